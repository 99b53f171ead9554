/** Tests which jobs are due: the order of tasks, shared files, dependencies and deadlines. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { due } from "./due.ts";

const on = (...scope: string[]) => ({ scope });

describe("tasks that touch the same files", () => {
  test("run one after the other: the second starts when the first is settled, not when its worker is done", () => {
    const run = CoreRun.planned([task("a", on("x.ts")), task("b", on("x.ts"))]);
    assert.deepEqual(run.running("work"), ["work:t.1#1"]);
    run.work("t.1");
    assert.deepEqual(run.running("work"), []);
    run.land();
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("keep their order, and each sees the one before it in its base", () => {
    const run = CoreRun.planned(["a", "b", "c"].map((id) => task(id, on("x.ts"))));
    const bases: string[] = [];
    for (const id of ["t.1", "t.2", "t.3"]) {
      assert.deepEqual(run.running("work"), [`work:${id}#1`]);
      bases.push(run.brief("work", id).base);
      run.finish(id);
    }
    assert.deepEqual(bases, ["base", "commit-1", "commit-2"]);
  });

  test("go by priority when several wait", () => {
    const run = CoreRun.planned([task("a", on("x.ts")), task("b", { ...on("x.ts"), priority: 7 })]);
    run.say({ type: "steer", message: "one more" });
    run.plan("t", [task("c", { ...on("x.ts"), priority: 2 })]);
    run.finish("t.1");
    assert.deepEqual(run.running("work"), ["work:t.3#1"]);
  });

  test("meet through a folder as well", () => {
    const run = CoreRun.planned([task("a", on("src/")), task("b", on("src/deep/x.ts"))], {
      decompose: { maxDepth: 0 },
    });
    assert.deepEqual(run.running("work"), ["work:t.1#1"]);
  });

  test("go on when the first one failed, or was cancelled", () => {
    const failed = CoreRun.planned([task("a", on("x.ts")), task("b", on("x.ts"))]);
    failed.failForGood("t.1");
    assert.deepEqual(failed.running("work"), ["work:t.2#1"]);
    const cancelled = CoreRun.planned([task("a", on("x.ts")), task("b", on("x.ts"))]);
    cancelled.say({ type: "cancel", task: cancelled.task("t.1").id });
    assert.deepEqual(cancelled.running("work"), ["work:t.2#1"]);
  });

  test("stay held while the first one is refused and tried again", () => {
    const run = CoreRun.planned([task("a", on("x.ts")), task("b", on("x.ts"))]);
    run.work("t.1");
    run.land([{ task: run.task("t.1").id, files: ["x.ts"], against: "target" }]);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    run.fail("work", "t.1", "interrupted");
    assert.deepEqual(run.running("work"), [], "not even while it waits");
  });

  test("stay held while a subplanner has them", () => {
    const run = CoreRun.planned([task("m", on("src/")), task("b", on("src/x.ts"))]);
    run.plan("t.1", [task("s", on("src/y.ts"))]);
    assert.deepEqual(run.running("work"), ["work:t.1.1#1"]);
    run.finish("t.1.1");
    run.plan("t.1", []);
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("run side by side where the policy lets landing sort it out", () => {
    const run = CoreRun.planned([task("a", on("x.ts")), task("b", on("x.ts"))], { overlap: "allow" });
    assert.deepEqual(run.running("work"), ["work:t.1#1", "work:t.2#1"]);
  });

  test("do not wait for a report, nor does a report wait", () => {
    const run = CoreRun.planned([
      task("a", { ...on("x.ts"), delivers: "report" }),
      task("b", on("x.ts")),
      task("c", { ...on("x.ts"), delivers: "report" }),
    ]);
    assert.equal(run.running("work").length, 3);
  });

  test("do not wait for each other's lock files", () => {
    const lock = "package-lock.json";
    const run = CoreRun.planned([task("a", on("a.ts", lock)), task("b", on("b.ts", lock))]);
    assert.equal(run.running("work").length, 2);
  });
});

describe("who waits for files", () => {
  test("is not overtaken by a later task of the same answer", () => {
    const run = CoreRun.planned([
      task("x", on("a.ts")),
      task("wide", on("a.ts", "b.ts")),
      task("small", on("b.ts")),
    ]);
    assert.deepEqual(run.running("work"), ["work:t.1#1"]);
    run.finish("t.1");
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("keeps what it held before against a more urgent one that comes later", () => {
    const run = CoreRun.planned([task("a", on("a.ts"))], { capacity: { work: 2 } });
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: x"], "a.ts");
    run.fail("work", "t.1");
    assert.deepEqual(run.running("work"), ["work:t.2#1"], "a fix has the file now");
    run.say({ type: "steer", message: "urgent" });
    const urgent = { priority: 1 };
    run.plan("t", [task("v", urgent), task("w", urgent), task("u", { ...on("a.ts"), ...urgent })]);
    run.finish("t.2");
    assert.deepEqual(run.running("work"), ["work:t.3#1", "work:t.4#1"]);
    run.work("t.3");
    assert.deepEqual(run.running("work"), ["work:t.4#1", "work:t.1#2"]);
  });

  test("is not starved by a stream of small tasks that take its files by turns", () => {
    const run = CoreRun.planned([task("x", on("a.ts")), task("wide", on("a.ts", "b.ts"))]);
    for (let n = 0; n < 5; n += 1) {
      run.say({ type: "steer", message: "more" });
      run.plan("t", [task(`s${n}`, on(n % 2 === 0 ? "b.ts" : "a.ts"))]);
    }
    run.finish("t.1");
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("keeps its turn against less urgent planners as well", () => {
    const run = CoreRun.planned([
      task("tree", { ...on("src/"), priority: 5 }),
      task("urgent", { ...on("src/a.ts"), priority: 1 }),
    ]);
    assert.deepEqual(run.running(), ["work:t.2#1"]);
    run.finish("t.2");
    assert.ok(run.isAsked("t.1"));
  });

  test("waits for nothing when the one before it never dispatched is cancelled", () => {
    const run = CoreRun.planned(["a", "b", "c"].map((id) => task(id, on("x.ts"))));
    run.say({ type: "cancel", task: run.task("t.2").id });
    run.finish("t.1");
    assert.deepEqual(run.running("work"), ["work:t.3#1"]);
  });

  test("a fix without a place gets its turn before tasks that were not begun", () => {
    const run = CoreRun.planned(
      ["a", "b", "c", "d"].map((id) => task(id)),
      { capacity: { work: 2 } },
    );
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: x"], "");
    run.work("t.1");
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
    run.work("t.2");
    assert.deepEqual(run.running("work"), ["work:t.5#1"]);
    run.finish("t.5");
    assert.deepEqual(run.running("work"), ["work:t.3#1", "work:t.4#1"]);
  });

  /** Two of three children are at work, and the fix for the red target may change everything. */
  function partsAndFix() {
    const run = CoreRun.planned([task("m", on("m/"))], { capacity: { work: 2 } });
    run.plan(
      "t.1",
      ["a", "b", "c"].map((id) => task(id, on(`m/${id}.ts`))),
    );
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: x"], "");
    run.work("t.1.1");
    assert.deepEqual(run.running("work"), ["work:t.1.2#1"]);
    return run;
  }

  test("a fix goes before the parts of a subplanner as well", () => {
    const run = partsAndFix();
    run.work("t.1.2");
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
    run.work("t.2");
    assert.deepEqual(run.running("work"), ["work:t.1.3#1"], "which wait for its work, not for its landing");
  });

  test("a fix that is cancelled while it waits keeps nobody", () => {
    const run = partsAndFix();
    run.say({ type: "cancel", task: run.task("t.2").id });
    assert.deepEqual(run.running("work"), ["work:t.1.2#1", "work:t.1.3#1"]);
  });
});

describe("what goes first", () => {
  test("the most urgent task, then the older one", () => {
    const run = CoreRun.planned(
      [task("a"), task("b", { priority: 9 }), task("c", { priority: 1 }), task("d")],
      { capacity: { work: 1 } },
    );
    const order: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const [job] = run.running("work");
      order.push(job!);
      run.finish(job!.slice("work:".length, -2));
      if (run.isAsked("t") && n < 3) run.plan("t", []);
    }
    assert.deepEqual(order, ["work:t.3#1", "work:t.1#1", "work:t.4#1", "work:t.2#1"]);
  });

  test("an urgent task that comes later, before those that still wait for a worker", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c")], { capacity: { work: 1 } });
    run.say({ type: "steer", message: "urgent" });
    run.plan("t", [task("z", { priority: 1 })]);
    run.work("t.1");
    assert.deepEqual(run.running("work"), ["work:t.4#1"]);
  });

  test("with longest-path, among equals the one that most others wait for, and never past a priority", () => {
    const run = CoreRun.planned(
      [
        task("single"),
        task("head"),
        task("mid", { after: ["head"] }),
        task("tail", { after: ["mid"] }),
        task("urgent", { priority: 4 }),
      ],
      { capacity: { work: 1 }, order: "longest-path" },
    );
    assert.deepEqual(run.running("work"), ["work:t.5#1"]);
    run.work("t.5");
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("a part of a planner that is asked at the same time, before a less urgent task", () => {
    const run = CoreRun.planned([task("m", on("m/")), task("z", { priority: 9 })], { capacity: { work: 1 } });
    run.work("t.2");
    run.plan("t.1", [task("x", on("m/x.ts")), task("y", on("m/y.ts"))]);
    run.say({ type: "steer", message: "more" });
    run.plan("t", [task("later", { priority: 9 })]);
    assert.deepEqual(run.running("work"), ["work:t.1.1#1"]);
    run.say({ type: "cancel", task: run.task("t.1.1").id });
    assert.ok(run.isAsked("t.1"));
    assert.deepEqual(run.running("work"), ["work:t.1.2#1"]);
  });

  test("never more jobs of a kind than there is room for", () => {
    const tasks = Array.from({ length: 30 }, (_, i) => task(`a${i}`));
    const run = CoreRun.planned([...tasks, task("m", on("m/")), task("n", on("n/"))], {
      capacity: { work: 3, plan: 1 },
    });
    assert.equal(run.running("work").length, 3);
    assert.equal(run.running("plan").length, 1);
  });

  test("a planner that waits for its children holds no slot that they need", () => {
    const run = CoreRun.planned([task("m", on("m/"))], { capacity: { work: 1, plan: 1 } });
    run.plan("t.1", [task("deep", on("m/deep/"))]);
    run.plan("t.1.1", [task("deeper", on("m/deep/er/"))]);
    run.plan("t.1.1.1", [task("leaf", on("m/deep/er/x.ts"))]);
    assert.deepEqual(run.running(), ["work:t.1.1.1.1#1"]);
  });
});

describe("the next moment at which something changes by itself", () => {
  const next = (run: CoreRun) => due(run.state, run.policy, run.now).deadline;

  test("is the end of the first lease", () => {
    const run = CoreRun.planned([task("a")]);
    run.wait(MINUTE);
    assert.equal(next(run), 60 * MINUTE);
  });

  test("is the end of a landing's wait", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    run.landFailed();
    assert.equal(next(run), run.state.landing.retryAt);
  });

  test("is the next sweep", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.finish("t.1");
    assert.equal(next(run), MINUTE);
  });

  test("does not come when nothing is under way", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "pause" });
    run.fail("work", "t.1");
    assert.equal(next(run), undefined);
  });
});

describe("tasks that wait for tasks", () => {
  test("start when all they wait for has landed, not when its work is handed in", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c", { after: ["a", "b"] })]);
    run.finish("t.1");
    run.work("t.2");
    assert.deepEqual(run.running("work"), []);
    run.land();
    assert.deepEqual(run.running("work"), ["work:t.3#1"]);
    assert.equal(run.brief("work", "t.3").base, "commit-2");
  });

  test("are skipped with the reason when one of them fails, and so is all behind them", () => {
    const run = CoreRun.planned([
      task("a"),
      task("b", { after: ["a"] }),
      task("c", { after: ["b"] }),
      task("d"),
    ]);
    run.failForGood("t.1");
    assert.deepEqual(
      run.events("task.skipped").map((e) => [e.task, e.because]),
      [
        ["t.2", "t.1"],
        ["t.3", "t.1"],
      ],
    );
    assert.equal(run.is("t.4"), "open");
  });

  test("are skipped once when two that they wait for fail at the same instant", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c", { after: ["a", "b"] })], {
      retry: { maxLost: 0 },
    });
    run.wait(60 * MINUTE);
    assert.equal(run.events("task.skipped").length, 1);
    assert.equal(run.state.unsettled, 0);
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => n.key),
      ["a", "c", "b"],
    );
  });

  test("are skipped once when two planners that they wait for settle at the same instant", () => {
    const run = CoreRun.planned(
      [task("m", on("m/")), task("n", on("n/")), task("c", { after: ["m", "n"] })],
      { retry: { maxLost: 0 }, subplanner: { maxAnswers: 1 } },
    );
    run.plan("t.1", [task("x", on("m/x.ts"))]);
    run.plan("t.2", [task("x", on("n/x.ts"))]);
    run.wait(60 * MINUTE);
    assert.equal(run.events("task.skipped").length, 1);
    assert.equal(run.state.unsettled, 0);
  });
});
