/** Tests a plan's terms in real runs: result files, the answers that name them, and success criteria. */
import assert from "node:assert/strict";
import { readdirSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import type { Config } from "../../src/config/index.ts";
import type { Failure } from "../../src/core/failure.ts";
import type { RunState } from "../../src/core/log/state.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { ExecutionPlan, PlanTask } from "../../src/planning/plan.ts";
import type { Script, WorkAttempt } from "../../src/ports/agent-script.ts";
import {
  closing,
  createRun,
  drive,
  endings,
  makeSetting,
  readText,
  type Setting,
  startRun,
} from "../support/live-runs.ts";
import { startModelServer } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";

const task = (
  id: string,
  { output = false, ...more }: Partial<PlanTask> & { readonly output?: boolean } = {},
): PlanTask => ({
  id,
  subject: `Make ${id}`,
  description: `write ${id}.txt`,
  activeForm: `Making ${id}`,
  blockedBy: [],
  scope: [`${id}.txt`],
  reads: [],
  delivers: "change",
  requirements: [],
  metadata: {
    wave: 0,
    phase_id: id,
    agent: "general-purpose",
    parallel: true,
    depth: 1,
    ...(output && { output_file: `$CLAUDE_SCRATCHPAD_DIR/${id}.md` }),
  },
  ...more,
});

const planOf = (tasks: readonly PlanTask[]): ExecutionPlan => ({
  skein_plan: 1,
  goal: "make it",
  planner: "rules",
  max_concurrent: 4,
  success_criteria: [],
  assumptions: [],
  questions: [],
  context: { files: [], patterns: [], tests: [] },
  tasks,
  risks: [],
});

const attempt = (id: string, text: string, end: WorkAttempt["end"], output?: string): WorkAttempt => ({
  steps: [
    { do: "write", path: `${id}.txt`, text },
    ...(output === undefined ? [] : [{ do: "output", text: output } as const]),
  ],
  end,
});

async function planned(setting: Setting, config: Config, tasks: readonly PlanTask[]) {
  const { project } = setting;
  const plan = planOf(tasks);
  const home = await createRun(project, { goal: plan.goal, base: project.located.head, config, plan });
  assert.ok(!hasFailed(home), "failure" in home ? home.failure.message : "");
  return home;
}

const byKey = (state: RunState, key: string) =>
  [...state.tasks.values()].find(({ spec }) => spec.key === key)!;

function failureOf(state: RunState, key: string): Failure {
  const { state: end } = byKey(state, key);
  assert.ok(end.is === "failed", end.is);
  return end.failure;
}

const readsResultOfA: WorkAttempt = {
  steps: [{ do: "run", command: ["sh", "-c", 'cat "$CLAUDE_SCRATCHPAD_DIR/a.md" > f.txt'] }],
  end: "done",
};

const QUICK = { gate: ["true"], "retry.first": "1ms", "retry.max": "1ms", planner: "none" };

describe("a run that follows a plan", () => {
  it("lands what keeps its terms, and says of the rest which were not kept", async () => {
    const red = 'grep -q 3 "$0.txt" || { echo "it has $(cat "$0.txt")"; exit 1; }'.replaceAll("$0", "c");
    const tasks = [
      task("a", { output: true }),
      task("b", { output: true }),
      task("c", { output: true, success_criterion: `${red}; touch made-by-the-criterion.txt` }),
      task("d", { success_criterion: "echo never good; exit 7" }),
      task("e", { output: true }),
      task("f", { blockedBy: ["a"] }),
    ];
    const work: Script["work"] = {
      a: [attempt("a", "a", "done", "the whole of a\n")],
      b: [
        attempt("b", "1", { answer: "all done" }, "b"),
        attempt("b", "2", { answer: "DONE|$OUTPUT.md" }, "b"),
        attempt("b", "3", { handoff: { status: "blocked", summary: "no way" } }, "b"),
      ],
      c: ["1", "2", "3"].map((n) => attempt("c", n, "done", `result ${n}`)),
      d: [attempt("d", "d", "done")],
      e: [attempt("e", "e", "done")],
      f: [readsResultOfA],
    };
    await using setting = await makeSetting({ files: { "seed.txt": "x\n" }, script: { plans: {}, work } });
    const config = setting.config(QUICK);
    const home = await planned(setting, config, tasks);
    const end = await drive(setting, home, config);
    assert.ok(end.is === "closed", closing(end));
    const { state } = end;
    const done = { a: "done", b: "failed", c: "done", d: "failed", e: "failed", f: "done" };
    assert.deepEqual(endings(state), { t: endings(state)["t"], ...done });
    assert.notEqual(state.closed?.how, "done", "what a plan wants is not all there");

    const scratchpad = path.join(home.folder, "scratchpad");
    const result = (name: string) => readText(path.join(scratchpad, name));
    assert.deepEqual(
      [await result("c.md.1"), await result("c.md.2"), await result("c.md")],
      [...["result 1", "result 2", "result 3"]],
    );
    const show = (file: string) => setting.repository.git("show", `skein/${home.record.run}/target:${file}`);
    assert.equal(await show("f.txt"), "the whole of a", "it found the result of the task before it");
    assert.equal(await show("c.txt"), "3");
    await assert.rejects(show("made-by-the-criterion.txt"));
    const { state: a } = byKey(state, "a");
    assert.ok(a.is === "done" && a.handoff.summary === "the whole of a");

    const third = path.join(home.folder, "jobs", `work-${byKey(state, "b").id}-3`, "job.json");
    const { brief } = JSON.parse(await readText(third));
    const past = brief.past.map(({ failure }: { readonly failure: Failure }) => failure.message);
    const file = path.join(scratchpad, "b.md");
    assert.equal(past[0], `answered "all done" instead of DONE|${file}`);
    assert.equal(past[1], `answered "DONE|${file}.md" instead of DONE|${file}`);
    assert.match(failureOf(state, "b").message, /the worker reported blocked: no way/);
    assert.match(failureOf(state, "e").message, /answered DONE, but .*e\.md is empty/);
    const never = failureOf(state, "d");
    assert.deepEqual([never.kind, never.detail], ["unmet", "never good\n[exit code 7]"]);
    const turns = readdirSync(path.join(home.folder, "turns"));
    const attempts = (key: string) =>
      turns.filter((name) => name.startsWith(`work-${byKey(state, key).id}-`) && !name.includes(".s")).length;
    assert.deepEqual(["a", "c", "d", "e", "f"].map(attempts), [1, 3, 5, 3, 1]);
  });

  it("that is stopped while a criterion runs tries it again, and nobody works twice", async () => {
    const work = { a: [attempt("a", "a", "done", "all")] };
    await using setting = await makeSetting({ files: { "seed.txt": "x\n" }, script: { plans: {}, work } });
    const config = setting.config({ ...QUICK, sandbox: "off" });
    const go = path.join(setting.folder, "go");
    const own = path.join(setting.folder, "own scratchpad");
    const there = { ...setting, env: { ...setting.env, CLAUDE_SCRATCHPAD_DIR: own } };
    const begun = `touch '${setting.folder}/begun-'$$`;
    const criterion = `echo changed > a.txt; touch made.txt; test -e '${go}' || { ${begun}; exec sleep 600; }`;
    const terms = { output: true, success_criterion: criterion, scope: [] };
    const home = await planned(setting, config, [task("a", terms)]);
    const begins = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const watcher = watch(setting.folder, (_event, name) => name?.startsWith("begun-") && resolve());
      return promise.finally(() => watcher.close());
    };
    const options = { config, env: there.env, watch: () => {} };
    const first = begins();
    const live = await startRun(setting.project, home, options, AbortSignal.timeout(30_000));
    assert.ok(!hasFailed(live));
    await first;
    live.stopNow();
    assert.equal((await live.ended).is, "stopped");
    const stop = new AbortController();
    void begins().then(() => stop.abort());
    const resumed = await startRun(setting.project, home, options, stop.signal);
    assert.ok(
      hasFailed(resumed) && resumed.failure.kind === "interrupted",
      "it is heard before the engine is there",
    );
    await writeFile(go, "");
    const end = await drive(setting, home, config); // Resumed as from another shell, where the variable is not set.
    assert.equal(closing(end), "done");
    assert.equal(await readText(path.join(own, "a.md")), "all");
    const target = `skein/${home.record.run}/target`;
    assert.equal(await setting.repository.git("ls-tree", "--name-only", target), "a.txt\nseed.txt");
    assert.equal(await setting.repository.git("show", `${target}:a.txt`), "a");
    const turns = readdirSync(path.join(home.folder, "turns")).filter((name) =>
      /^work-[^.]*\.\d+-\d+$/.test(name),
    );
    assert.deepEqual(turns, ["work-t.1-1"]);
  });

  it("never takes the result of another for its own, though both have one scratchpad", async () => {
    const work = { a: [attempt("a", "a", "done", "of this run")] };
    await using setting = await makeSetting({ files: { "seed.txt": "x\n" }, script: { plans: {}, work } });
    const config = setting.config(QUICK);
    const pad = path.join(setting.folder, "pad");
    const there = { ...setting, env: { ...setting.env, CLAUDE_SCRATCHPAD_DIR: pad } };
    const tasks = [task("a", { output: true })];
    const [first, second, third] = [
      await planned(setting, config, tasks),
      await planned(setting, config, tasks),
      await planned(setting, config, tasks),
    ];
    const live = await startRun(
      setting.project,
      first,
      { config, env: there.env, watch: () => {} },
      AbortSignal.timeout(30_000),
    );
    assert.ok(!hasFailed(live));
    live.stopNow();
    assert.equal((await live.ended).is, "stopped");
    assert.equal(closing(await drive(there, second, config)), "done");
    const results = () => readdirSync(pad).filter((name) => name.endsWith(".md"));
    assert.ok(!readdirSync(pad).includes("a.md.1"));
    assert.deepEqual(readdirSync(path.join(pad, second.record.run)), ["a.md"]);
    assert.equal(closing(await drive(setting, first, config)), "done");
    assert.deepEqual(results(), ["a.md"]);
    assert.equal(closing(await drive(there, third, config)), "done");
    assert.deepEqual(readdirSync(pad).sort(), ["a.md", "a.md.1", second.record.run].sort());
  });

  it("keeps the scratchpad that it began with, also if it had none", async () => {
    const work = { a: [attempt("a", "a", "done", "all")] };
    await using setting = await makeSetting({ files: { "seed.txt": "x\n" }, script: { plans: {}, work } });
    const config = setting.config(QUICK);
    const home = await planned(setting, config, [task("a", { output: true })]);
    const options = { config, env: setting.env, watch: () => {} };
    const live = await startRun(setting.project, home, options, AbortSignal.timeout(30_000));
    assert.ok(!hasFailed(live));
    live.stopNow();
    await live.ended;
    const env = { ...setting.env, CLAUDE_SCRATCHPAD_DIR: path.join(setting.folder, "pad") };
    assert.equal(closing(await drive({ ...setting, env }, home, config)), "done");
    assert.equal(await readText(path.join(home.folder, "scratchpad", "a.md")), "all");
  });

  it("holds the built-in agent to the same, from within its sandbox", async () => {
    const script: Script = {
      plans: {},
      work: {
        a: [
          attempt("a", "a", { answer: "I have done it" }, "half"),
          attempt("a", "a", "done", "the whole of a\n"),
        ],
        f: [readsResultOfA],
      },
    };
    await using server = await startModelServer({ answer: playsScript(script), keys: ["k"] });
    await using setting = await makeSetting({ files: { "seed.txt": "x\n" } });
    const model = {
      kind: "model",
      provider: "tests",
      model: "m",
      baseUrl: `${server.url}/v1`,
      speaks: "openai",
    };
    const config = setting.config({ ...QUICK, agent: { ...model, key: "MODEL_KEY" } });
    const tasks = [
      task("a", { output: true }),
      task("f", { blockedBy: ["a"], success_criterion: "test -s f.txt" }),
    ];
    const home = await planned(setting, config, tasks);
    const env = { ...setting.env, MODEL_KEY: "k" };
    const end = await drive({ ...setting, env }, home, config);
    assert.equal(closing(end), "done");
    const target = `skein/${home.record.run}/target`;
    assert.equal(await setting.repository.git("show", `${target}:f.txt`), "the whole of a");
    assert.equal(await readText(path.join(home.folder, "scratchpad", "a.md.1")), "half");
  });

  it("whose plan is damaged, or whose scratchpad or sandbox cannot be had, says so before it begins", async () => {
    await using setting = await makeSetting({ files: { "seed.txt": "x\n" } });
    const refused = async (plan: ExecutionPlan, env = setting.env, config = setting.config(QUICK)) => {
      const { project } = setting;
      const home = await createRun(project, { goal: "g", base: project.located.head, config, plan });
      assert.ok(!hasFailed(home));
      const live = await startRun(
        project,
        home,
        { config, env, watch: () => {} },
        AbortSignal.timeout(30_000),
      );
      assert.ok(hasFailed(live));
      assert.equal((await Array.fromAsync(home.log.read(0))).length, 0);
      return live.failure.message;
    };
    const broken: ExecutionPlan = JSON.parse('{"skein_plan": 1, "goal": "g", "tasks": [{"subject": 3}]}');
    assert.match(await refused(broken), /the plan of run \S+ cannot be followed: .*run\.json: tasks\[/);
    const link = path.join(setting.folder, "link");
    symlinkSync(setting.env["HOME"]!, link);
    for (const folder of ["here", setting.env["HOME"]!, "/", link, setting.repository.folder]) {
      const env = { ...setting.env, CLAUDE_SCRATCHPAD_DIR: folder };
      assert.match(await refused(planOf([task("a")]), env), /^CLAUDE_SCRATCHPAD_DIR is /, folder);
    }
    const inTheWay = path.join(setting.folder, "in the way");
    writeFileSync(inTheWay, "");
    // In the second place no folder can be made, and Node's recursive mkdir would try for ever.
    for (const folder of [inTheWay, "/proc/nowhere/pad"]) {
      const env = { ...setting.env, CLAUDE_SCRATCHPAD_DIR: folder };
      assert.match(await refused(planOf([task("a")]), env), /the scratchpad .* cannot be used: /, folder);
    }
    const tried = planOf([task("a", { success_criterion: "true" })]);
    const confined = setting.config({ ...QUICK, sandbox: "required" });
    const nowhere = { ...setting.env, PATH: "/nowhere" };
    assert.match(
      await refused(tried, nowhere, confined),
      /^a sandbox is required, and bwrap is not on the PATH/,
    );
  });
});
