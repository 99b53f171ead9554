/** Tests `skein plan` and plan files on the command line, from the request to the landed commits. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { makePlace, type Place } from "./cli-place.ts";

const GATE = ["--gate", "test -f README.md"];

/** An agent that writes the file its task is about, and the task's result file if one is asked for. */
const AGENT = `#!/bin/sh
[ "$SKEIN_KIND" = work ] || exit 9
echo "made by $SKEIN_TASK" > "$SKEIN_TASK.txt"
if [ -n "$SKEIN_OUTPUT_FILE" ]; then
  echo "the result of $SKEIN_TASK" > "$SKEIN_OUTPUT_FILE"
  echo "DONE|$SKEIN_OUTPUT_FILE"
else
  echo '{"status":"complete","summary":"wrote it","concerns":[]}'
fi
`;

const THREE = {
  skein_plan: 1,
  goal: "three files",
  max_concurrent: 2,
  success_criteria: ["All are there."],
  tasks: [
    { id: "one", subject: "Write one", description: "Write the first.", scope: ["t.1.txt"] },
    { id: "two", subject: "Write two", description: "Write the second.", scope: ["t.2.txt"] },
    {
      id: "three",
      subject: "Write three",
      description: "Write the third.",
      scope: ["t.3.txt"],
      blockedBy: ["one", "two"],
      success_criterion: "test -f t.1.txt -a -f t.2.txt -a -f t.3.txt",
      metadata: { output_file: "$CLAUDE_SCRATCHPAD_DIR/three.md" },
    },
  ],
};

async function placeOfThree(): Promise<Place & { readonly plan: string }> {
  const place = await makePlace();
  await writeFile(place.agent, AGENT, { mode: 0o755 });
  const plan = path.join(place.folder, "plan.json");
  await writeFile(plan, JSON.stringify(THREE, undefined, 2));
  return { ...place, plan };
}

const noRun = async ({ skein }: Place) =>
  assert.deepEqual(JSON.parse((await skein("status", "--json")).out).runs, []);

describe("a plan file", { concurrency: 2 }, () => {
  it("is run as it is: its workers, its order, its criterion, and nobody plans or is steered", async () => {
    await using place = await placeOfThree();
    // The planner does not exist as a program, which shows that a plan file is run without a planner.
    const options = ["--agent", place.agent, "--planner", "./no-such-planner", "--approve", ...GATE];
    const live = place.start("run", place.plan, ...options);
    await live.says("approve");
    const steered = await place.skein("steer", "do it otherwise");
    assert.equal(steered.code, 1);
    assert.match(steered.err, /follows a plan: there is no planner to tell\ntry: skein cancel /);
    assert.equal((await place.skein("approve")).code, 0);
    const { code, out, err } = await live.ended;
    assert.equal(code, 0, out + err);
    assert.match(out, /^goal {4}three files$/m);
    assert.match(out, /^plan {4}3 tasks in 2 waves, from .*plan\.json/m);
    assert.match(out, /3 of 3 tasks done/);
    const run = /^run {5}(\S+)$/m.exec(out)![1]!;
    const folder = /^kept in (\S+)$/m.exec(out)![1]!;
    const { settings, plan } = JSON.parse(await readFile(path.join(folder, "run.json"), "utf8"));
    assert.deepEqual([settings.workers, settings.planner, plan.goal], [2, "none", "three files"]);
    const result = await readFile(path.join(folder, "scratchpad", "three.md"), "utf8");
    assert.equal(result, "the result of t.3\n");
    assert.ok(out.includes(`  ls ${folder}/scratchpad  # `), out);
    assert.match(
      (await place.skein("show", run, "three")).out,
      /^Result file\n {2}\S+\/scratchpad\/three\.md$/m,
    );
    const status = await place.skein("status", run);
    assert.match(status.out, /^plan {4}follows a plan file/m);
    const { tasks } = JSON.parse((await place.skein("show", "--json")).out);
    assert.deepEqual(tasks.map(({ key }: { key: string }) => key).slice(1), ["one", "two", "three"]);
  });

  it("says before it runs that it is large, or needs more than the budget by the forecast", async () => {
    await using place = await placeOfThree();
    const tasks = Array.from({ length: 13 }, (_, n) => ({
      ...THREE.tasks[0]!,
      id: `n${n}`,
      scope: [`t.${n + 1}.txt`],
    }));
    await writeFile(place.plan, JSON.stringify({ ...THREE, tasks }));
    const budget = ["--set", "budget.tokens=1000000", "--set", "retry.maxFailed=1"];
    const { out } = await place.skein("run", place.plan, "--agent", "false", ...budget, ...GATE);
    const [before = ""] = out.replace(/\s+/g, " ").split("goal three files");
    assert.match(before, /notice: 13 tasks are 13 agent turns at least, about 2,600,000 tokens/);
    assert.match(
      before,
      /notice: the forecast for this plan is 2,600,000 tokens, more than budget\.tokens \(1,000,000/,
    );
  });

  it("that is broken starts nothing, and every problem is named", async () => {
    await using place = await placeOfThree();
    const broken = JSON.stringify(
      { ...THREE, tasks: [{ ...THREE.tasks[2], scope: ["../x"] }] },
      undefined,
      2,
    );
    await writeFile(place.plan, broken);
    const { code, err } = await place.skein("run", place.plan, "--agent", place.agent);
    assert.equal(code, 3);
    assert.match(err, /plan\.json:\d+: tasks\[0\]\.scope\[0\]: .*leaves the repository/);
    assert.match(err, /plan\.json:\d+: tasks\[0\]\.blockedBy\[0\]: .*"one"/);
    await writeFile(place.plan, "{");
    const json = await place.skein("run", place.plan, "--agent", place.agent, "--json");
    assert.deepEqual([json.code, JSON.parse(json.err).error.kind], [3, "plan-invalid"]);
    await noRun(place);
  });
});

describe("a run with --plan", { concurrency: 2 }, () => {
  it("makes the plan of a request and runs it with a yes", async () => {
    await using place = await placeOfThree();
    const request = "Write t.1.txt, t.2.txt and t.3.txt";
    const yes = ["--plan", "--yes", "--by", "rules", "--workers", "3", "--agent", place.agent, ...GATE];
    const { code, out, err } = await place.skein("run", request, ...yes);
    assert.match(out, /^Execution plan: ready$/m, err);
    assert.match(out, /^plan {4}\d+ tasks? in \d+ waves?, by rules$/m);
    assert.equal(code, 0, out + err);
  });

  it("starts nothing where nobody can say yes, nor without a plan that can be made", async () => {
    await using place = await placeOfThree();
    const options = ["--plan", "--agent", place.agent];
    const { code, err } = await place.skein("run", "write a file", ...options);
    assert.deepEqual([code, /add --yes to run it without asking/.test(err)], [2, true], err);
    assert.equal((await place.skein("run", "...", ...options, "--yes")).code, 2);
    await noRun(place);
  });
});

describe("skein plan", () => {
  it("answers in every form from a process of its own, and its file can be checked and changed", async () => {
    await using place = await makePlace();
    const { skein } = place;
    const made = await skein("plan", "Implement CRUD operations", "--out", "plan.json", "--json");
    assert.deepEqual([made.code, JSON.parse(made.out).tasks.length], [0, 4], made.err);
    const checked = await skein("plan", "check", "plan.json", "--repo", ".");
    assert.deepEqual([checked.code, /4 tasks in 1 wave, ready/.test(checked.out)], [0, true], checked.out);
    const markdown = await skein("plan", "Implement CRUD operations", "--markdown");
    assert.match(markdown.out, /^# EXECUTION PLAN\n/);
    const asked = await skein("plan", "fix it", "--ask");
    assert.deepEqual(
      [asked.code, /What exactly is meant by "fix it"\?/.test(asked.err)],
      [0, true],
      asked.err,
    );
    const help = await place.skein("plan", "check", "--help");
    assert.match(help.out, /^Usage: skein plan check/);
  });
});

describe("an agent's plan that is refused", { concurrency: 2 }, () => {
  const BAD = { ...THREE, tasks: [{ ...THREE.tasks[0]!, scope: ["../../x"] }] };
  const placeOfBad = async () => {
    const place = await makePlace();
    await writeFile(place.agent, `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify(BAD)}'\n`, {
      mode: 0o755,
    });
    return place;
  };

  it("is told with who made it, what was wrong, what is shown instead and what to try", async () => {
    await using place = await placeOfBad();
    const { code, out, err } = await place.skein("plan", "write three files", "--agent", place.agent);
    assert.equal(code, 0, err);
    assert.match(out, /^Execution plan: ready$/m);
    const notices = err.split("\n").filter((line) => line.startsWith("notice: "));
    assert.match(
      notices.join("\n"),
      /^notice: this plan was made by rules: agent\.sh answered 3 times, and none of its plans could be used\nnotice: problem of its last plan: tasks\[0\]\.scope\[0\]: .*leaves the repository.*\nnotice: try: use this plan, or edit it; or ask again, with another --agent or --model/,
    );
  });

  it("is told to programs on standard error, beside the rules' plan", async () => {
    await using place = await placeOfBad();
    const { code, out, err } = await place.skein(
      "plan",
      "write three files",
      "--agent",
      place.agent,
      "--json",
    );
    assert.equal(code, 0, err);
    assert.equal(JSON.parse(out).planner, "rules");
    const { notice } = JSON.parse(err);
    assert.deepEqual([notice.kind, notice.reasons.length], ["plan-invalid", 1]);
    assert.match(notice.message, /^this plan was made by rules: agent\.sh answered 3 times/);
    assert.match(notice.next, /edit it/);
  });
});
