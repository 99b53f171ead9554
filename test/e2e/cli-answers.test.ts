/** Tests what `skein run` prints for a goal that is a question, and for a change that is there already. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import type { RunView } from "../../src/core/view/view.ts";
import type { ExecutionPlan } from "../../src/planning/plan.ts";
import { makePlace } from "./cli-place.ts";

const ANSWER = "The test `adds` fails: it compares with 3, see test/add.test.js:4.";

/** As a planner this agent gives no tasks; as a worker it answers and changes nothing. */
const AGENT = `#!/bin/sh
cat > /dev/null
if [ "$SKEIN_KIND" = plan ]; then echo '{"tasks": []}'; exit 0; fi
if [ -n "$SKEIN_OUTPUT_FILE" ]; then echo '${ANSWER}' > "$SKEIN_OUTPUT_FILE"; echo "DONE|$SKEIN_OUTPUT_FILE"; exit 0; fi
cat <<'END'
${JSON.stringify({ status: "complete", summary: ANSWER })}
END
`;

/** The gate fails on the base. A question needs no repair of it, which would cost money. */
const RED = { "package.json": '{"scripts": {"test": "exit 1"}}' };

const SEVERAL =
  "before I touch the gate:\n- why is CI red\n- who runs it? odd\n\nNo changes please, just tell me.";

for (const [how, asked, options] of [
  ["a planner", "why is CI red", []],
  ["one worker", "why is CI red", ["--planner", "none"]],
  ["one worker where there are several", SEVERAL, ["--planner", "none"]],
] as const)
  test(`a question on a failing base ends done with its answer, by ${how}`, async () => {
    await using place = await makePlace({ files: RED });
    await writeFile(place.agent, AGENT, { mode: 0o755 });
    const ran = await place.skein("run", asked, "--agent", place.agent, ...options);
    assert.equal(ran.code, 0, ran.out + ran.err);
    assert.ok(ran.out.includes(ANSWER), ran.out);
    const report = await place.skein("report");
    assert.match(report.out, /The answer is in the report; nothing was to be changed/);
    assert.doesNotMatch(ran.out, /gate fails|fix task|Nothing landed/i);
    const run = /^run {5}(\S+)$/m.exec(ran.out)![1]!;
    const shown = JSON.parse((await place.skein("status", run, "--json")).out) as RunView;
    assert.deepEqual([shown.is, shown.ended, shown.answers[0]?.text], ["done", "answered", ANSWER]);
  });

test("a question whose planner plans a change ends done with its answer, too", async () => {
  await using place = await makePlace({ files: RED });
  const tasks = [
    { id: "why", description: "Find out why CI is red.", scope: ["./"], acceptance: "It is known" },
  ];
  const planner = `#!/bin/sh
if [ "$SKEIN_KIND" != plan ]; then exec sh "$0.work"; fi
if grep -q '"first":true'; then echo '${JSON.stringify({ tasks })}'; else echo '{"tasks": []}'; fi
`;
  await writeFile(place.agent, planner, { mode: 0o755 });
  await writeFile(`${place.agent}.work`, AGENT);
  const ran = await place.skein("run", "why is CI red", "--agent", place.agent);
  assert.equal(ran.code, 0, ran.out + ran.err);
  assert.ok(ran.out.includes(ANSWER), ran.out);
});

test("a plan by rules for a question is a report, and its run ends done on a failing base", async () => {
  await using place = await makePlace({ files: RED });
  await writeFile(place.agent, AGENT, { mode: 0o755 });
  const file = path.join(place.folder, "plan.json");
  const planned = await place.skein("plan", "why is CI red", "--by", "rules", "--out", file);
  assert.equal(planned.code, 0, planned.err);
  const ran = await place.skein("run", file, "--agent", place.agent);
  assert.equal(ran.code, 0, ran.out + ran.err);
  assert.ok(ran.out.includes(ANSWER), ran.out);
});

test("a plan by an agent for a question is a report, even if the agent first wants to change something", async () => {
  await using place = await makePlace({ files: RED });
  const planOf = (delivers: string) =>
    JSON.stringify({
      tasks: [{ id: "why", subject: "Say why CI is red", description: "Say why CI is red.", delivers }],
    });
  // Each plan is asked for in a fresh folder; the reason why the last one was refused is on the program's standard
  // input.
  const planner = `#!/bin/sh
if [ "$SKEIN_KIND" != plan ]; then exec sh "$0.work"; fi
if grep -q 'the request only asks'; then echo '${planOf("report")}'; else echo '${planOf("change")}'; fi
`;
  await writeFile(place.agent, planner, { mode: 0o755 });
  await writeFile(`${place.agent}.work`, AGENT);
  const file = path.join(place.folder, "plan.json");
  const planned = await place.skein("plan", "why is CI red", "--agent", place.agent, "--out", file);
  assert.equal(planned.code, 0, planned.err);
  const plan = JSON.parse(await readFile(file, "utf8")) as ExecutionPlan;
  assert.match(plan.planner ?? "", /^agent /);
  assert.deepEqual(
    plan.tasks.map(({ delivers }) => delivers),
    ["report"],
  );
  assert.match(plan.tasks[0]!.description, /The request, in full:\n\nwhy is CI red$/);
  const ran = await place.skein("run", file, "--agent", place.agent);
  assert.equal(ran.code, 0, ran.out + ran.err);
  assert.ok(ran.out.includes(ANSWER), ran.out);
});

test("a change that is there already is done only if its own criterion passes without it", async () => {
  await using place = await makePlace({ files: { "a.txt": "here\n" } });
  await writeFile(place.agent, AGENT, { mode: 0o755 });
  const planOf = (success_criterion?: string) =>
    JSON.stringify({
      tasks: [
        { id: "a", subject: "Write a", description: "Write a.txt", scope: ["a.txt"], success_criterion },
      ],
    });
  const run = async (criterion?: string) => {
    const file = path.join(place.folder, "plan.json");
    await writeFile(file, planOf(criterion));
    return place.skein("run", file, "--agent", place.agent, "--gate", "none", "--set", "retry.first=1ms");
  };
  const met = await run("grep -q here a.txt");
  assert.equal(met.code, 0, met.out + met.err);
  assert.match(met.out, /a had nothing to change: its success criterion passes without a change/);
  const unmet = await run("grep -q there a.txt");
  assert.equal(unmet.code, 1, unmet.out);
  const claimed = await run();
  assert.equal(claimed.code, 1, claimed.out);
  assert.match(claimed.out, /says that it is so already, which is not verified/);
});
