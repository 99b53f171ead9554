/** Tests the briefs of workers, planners and landings, their bounds, and the names of branches. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, large, task } from "../../test/support/core-run.ts";
import { isRefSafe } from "../text/slug.ts";
import { briefOf, targetBranchOf } from "./brief.ts";
import { replay } from "./log/evolve.ts";

describe("a worker's brief", () => {
  test("holds its task and what was done before it, and nothing of the others", () => {
    const run = CoreRun.planned([
      task("a"),
      task("secret", { description: "the other task" }),
      task("b", { after: ["a"], agent: "debugger" }),
    ]);
    run.work("t.1", { summary: "made the parser" });
    run.land();
    const brief = run.brief("work", "t.3");
    assert.deepEqual(brief.before, [{ key: "a", summary: "made the parser", files: ["a.ts"] }]);
    assert.equal(brief.spec.agent, "debugger");
    assert.equal(brief.base, "commit-1");
    assert.doesNotMatch(JSON.stringify(brief), /the other task|make it/);
  });

  test("and a planner's name the gate's commands, how long a look took at most, and the free workers", () => {
    const run = new CoreRun({ capacity: { plan: 4, work: 3 } });
    run.now += 90_000;
    run.check();
    const gate = { commands: ["npm run test"], ms: 90_000 };
    assert.deepEqual(run.brief("plan", "t").gate, gate);
    run.plan("t", [task("a"), task("b")]);
    assert.deepEqual(run.brief("work", "t.2").gate, gate);
    assert.deepEqual(run.brief("work", "t.2").workers, { atOnce: 3, free: 1 });
    run.finish("t.1", "t.2");
    assert.deepEqual(run.brief("plan", "t").workers, { atOnce: 3, free: 3 });
  });

  test("and a planner's name no time of a gate that was not run, since it had passed on the same tree before", () => {
    const run = new CoreRun();
    const [check = ""] = run.running("check");
    const report = { commands: [{ name: "npm run test", green: true, failures: [] }] };
    run.now += 50;
    run.answer(check, { is: "checked", tip: "base", report, problems: [], passedAt: 1 });
    assert.deepEqual(run.brief("plan", "t").gate, { commands: ["npm run test"] });
  });

  test("gives every attempt a branch of its own, also one that cost nothing", () => {
    const run = CoreRun.planned([task("a", { description: "Write it" })]);
    const branches = new Set<string>();
    for (let n = 1; n <= 4; n += 1) {
      branches.add(run.brief("work", "t.1").branch);
      run.say({ type: "interrupted", job: `work:t.1#${n}` as never });
    }
    assert.deepEqual(
      [...branches],
      [1, 2, 3, 4].map((n) => `skein/r/task/t.1.${n}-write-it`),
    );
  });

  test("is bounded, whatever those before it wrote", () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] })]);
    const filesChanged = Array.from({ length: 1_000 }, () => "a.ts");
    run.work("t.1", { summary: "x".repeat(1e6), filesChanged });
    run.land();
    const [before] = run.brief("work", "t.2").before;
    assert.ok(before!.summary.length < 2_100);
    assert.equal(before!.files.length, 50);
  });

  test("names every result before it, but tells only of the first few what they say", () => {
    const ids = Array.from({ length: 60 }, (_, i) => `a${i}`);
    const tasks = ids.map((id) => task(id, { terms: { output: `${id}.md` } }));
    const run = CoreRun.planned([...tasks, task("plain"), task("all", { after: [...ids, "plain"] })]);
    for (let n = 1; n <= 61; n += 1) run.finish(`t.${n}`);
    const { before } = run.brief("work", "t.62");
    assert.deepEqual(
      before.map(({ output }) => output),
      ids.map((id) => `${id}.md`),
    );
    assert.equal(before.filter(({ summary }) => summary !== "").length, 50);
  });

  test("starts from where the target is when it is dispatched, not from where the run began", () => {
    const run = CoreRun.planned([task("a"), task("b")], { capacity: { work: 1 } });
    assert.equal(run.brief("work", "t.1").base, "base");
    run.finish("t.1");
    run.fail("work", "t.2");
    assert.equal(run.brief("work", "t.2").base, "commit-1");
  });
});

describe("a planner's brief", () => {
  test("of the first turn says that it is the first, and how many tasks it may give", () => {
    const run = CoreRun.planned([large("m")]);
    const brief = run.brief("plan", "t.1");
    assert.deepEqual([brief.first, brief.maxTasks, brief.depth, brief.turn], [true, 10, 0, 1]);
    assert.deepEqual(brief.spec.scope, ["m/a.ts", "m/b.ts", "m/c.ts", "m/d.ts"]);
  });

  test("names the labels of the fleet's machines, each once, and nothing where there are none", () => {
    const run = CoreRun.green({ offerMs: 1 });
    assert.ok(!("labels" in run.brief("plan", "t")));
    const machine = { type: "machine", machine: "m1", state: "ready", capacity: 1 } as const;
    run.say({ ...machine, labels: [] });
    assert.ok(!("labels" in run.brief("plan", "t")));
    run.say(
      { ...machine, labels: ["linux", "gpu"] },
      { ...machine, machine: "m2", labels: ["gpu", "arm64"] },
    );
    assert.deepEqual(run.brief("plan", "t").labels, ["arm64", "gpu", "linux"]);
    run.say({ ...machine, machine: "m2", state: "gone", labels: [] });
    assert.deepEqual(run.brief("plan", "t").labels, ["gpu", "linux"]);
  });

  test("carries its scratchpad and its one conversation from turn to turn", () => {
    const run = CoreRun.green();
    const { transcript } = run.brief("plan", "t");
    run.plan("t", [task("a")], { scratchpad: "then b" });
    run.finish("t.1");
    const brief = run.brief("plan", "t");
    assert.deepEqual([brief.scratchpad, brief.transcript, brief.first], ["then b", transcript, false]);
    assert.equal(brief.tip, "commit-1");
  });

  test("is told of another planner's conversation by no name of its own", () => {
    const run = CoreRun.planned([large("m"), large("n")]);
    const names = ["t.1", "t.2"].map((id) => run.brief("plan", id).transcript);
    assert.equal(new Set(names).size, 2);
  });

  test("tells what the worker of a failed task had reported: its status, its suggestions and what it cost", () => {
    const run = CoreRun.planned([task("a")], { retry: { maxFailed: 1 } });
    const said = {
      status: "blocked",
      summary: "no key",
      suggestions: ["get a key"],
      concerns: ["odd"],
    } as const;
    run.work("t.1", { ...said, spent: { tokens: 7 } });
    const { news, concerns } = run.brief("plan", "t");
    assert.deepEqual(
      news.map(({ end, summary, suggestions, reported }) => [end, summary, suggestions, reported?.status]),
      [["failed", "the worker reported blocked: no key", ["get a key"], "blocked"]],
    );
    assert.deepEqual([news[0]?.reported?.summary, news[0]?.reported?.metrics.tokensUsed], ["no key", 7]);
    assert.ok(concerns.some(({ kind, text }) => kind === "said" && text === "odd"));
  });

  test("tells of failed tasks with their reason, of done ones with files and suggestions", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.failForGood("t.1");
    run.work("t.2", { suggestions: ["rename it"] });
    run.land();
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => [n.key, n.end, n.summary, n.files, n.suggestions]),
      [
        ["a", "failed", "agent-failed (3 times)", [], []],
        ["b", "done", "did t.2", ["b.ts"], ["rename it"]],
      ],
    );
  });

  test("is bounded: of many news the first in full and the rest by name, of concerns the first", () => {
    const ids = Array.from({ length: 60 }, (_, i) => task(`a${i}`, { delivers: "report" }));
    const run = CoreRun.planned(ids, { capacity: { work: 60 }, root: { replanAfter: 60 } });
    for (let n = 1; n <= 60; n += 1)
      run.work(`t.${n}`, { summary: "y".repeat(5_000), concerns: ["one", "two"] });
    const brief = run.brief("plan", "t");
    assert.equal(brief.news.length, 60, "nobody is left out");
    assert.ok(brief.news[49]!.summary.length > 1_000 && brief.news[49]!.summary.length < 2_100);
    assert.equal(brief.news[50]!.summary, "");
    assert.equal(brief.concerns.length, 100);
  });

  test("names what is active, so that it is not given twice, with short descriptions", () => {
    const run = CoreRun.planned([task("a"), task("b", { description: "z".repeat(1_000) })]);
    run.say({ type: "steer", message: "?" });
    const { active } = run.brief("plan", "t");
    assert.deepEqual(
      active.map((a) => a.key),
      ["a", "b"],
    );
    assert.ok(active[1]!.description.length < 200);
  });
});

describe("the names of branches", () => {
  test("are safe whatever the model wrote", () => {
    for (const text of [
      "--upload-pack=evil",
      "../../etc",
      "a..b~1^{}",
      "",
      "修复",
      "x".repeat(500),
      "a.lock",
    ]) {
      const run = CoreRun.planned([task("a", { description: text || "?" })]);
      const { branch } = run.brief("work", "t.1");
      assert.ok(isRefSafe(branch), branch);
      assert.match(branch, /^skein\/r\/task\/t\.1\.1-[a-z0-9-]+$/);
    }
  });

  test("of different tasks and attempts are never the same, nor one another's folder", () => {
    const run = CoreRun.planned(["a", "b"].map((key) => task(key, { description: "a" })));
    const branches = ["t.1", "t.2"].map((id) => run.brief("work", id).branch);
    const names = [...branches, targetBranchOf("r", "skein/")];
    assert.equal(new Set(names).size, names.length);
    for (const a of names) for (const b of names) assert.ok(!b.startsWith(`${a}/`), `${b} is in ${a}`);
  });
});

describe("a landing's brief", () => {
  test("names the commit that was judged, whatever the worker claims", () => {
    const run = CoreRun.planned([task("a")]);
    const worked = run.worked("t.1");
    assert.ok(worked.is === "worked");
    const handoff = { ...worked.handoff, commit: "claimed" };
    run.answer("work:t.1#1", { ...worked, handoff });
    assert.equal(run.brief("land").members[0]?.commit, "t.1 made");
  });

  test("of a log that does not have it, names none", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    const older = run.log.map((event) => {
      if (event.type !== "task.handed-off") return event;
      const { commit: _new, ...handoff } = event.handoff;
      return { ...event, handoff };
    });
    const job = run.landing();
    const brief = briefOf(replay(older), job, run.policy);
    assert.ok(brief.kind === "land");
    assert.ok(!("commit" in brief.members[0]!));
  });
});

test("only the first look of a run may take the result of an earlier run of the gate for its own", () => {
  const run = new CoreRun();
  assert.equal(run.brief("check").mayReuse, true);
  run.check(["test: x"]);
  assert.equal(run.brief("check").mayReuse, undefined);
});
