/** Tests when planners are asked, and what follows from answers, errors and outages. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, large, MINUTE, task } from "../../../test/support/core-run.ts";

const small = (...ids: string[]) => ids.map((id) => task(id));
const files = (...names: string[]) => ({ scope: names });

describe("priority", () => {
  test("is handed down: the parts of an urgent task go before an ordinary one that is older", () => {
    const run = CoreRun.planned([task("first"), large("m", { priority: 1 }), task("old")], {
      capacity: { work: 1 },
    });
    run.plan("t.2", [task("a", files("m/a.ts")), task("b", { ...files("m/b.ts"), priority: 9 })]);
    assert.deepEqual(
      ["t.2.1", "t.2.2", "t.3"].map((id) => run.task(id).spec.priority),
      [1, 9, 5],
    );
    run.finish("t.1"); // No other task was ready when it started.
    assert.deepEqual(run.running("work"), ["work:t.2.1#1"]);
  });
});

describe("when a planner is asked again", () => {
  test("the root planner is asked after three newly settled tasks, not after two", () => {
    const run = CoreRun.planned(small("a", "b", "c", "d", "e"));
    run.finish("t.1", "t.2");
    assert.ok(!run.isAsked("t"));
    run.finish("t.3");
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => [n.key, n.end]),
      [
        ["a", "done"],
        ["b", "done"],
        ["c", "done"],
      ],
    );
  });

  test("the root planner is asked when nothing is active, however little is new", () => {
    const run = CoreRun.planned(small("a"));
    run.work("t.1");
    assert.ok(!run.isAsked("t"), "a task that only waits to land is active");
    run.land();
    assert.ok(run.isAsked("t"));
  });

  test("a subplanner is asked after every settled task", () => {
    const run = CoreRun.planned([large("m")]);
    run.plan("t.1", [task("a", files("m/a.ts")), task("b", files("m/b.ts"))]);
    assert.ok(!run.isAsked("t.1"));
    run.finish("t.1.1");
    assert.ok(run.isAsked("t.1"));
    assert.deepEqual(
      run.brief("plan", "t.1").active.map((a) => a.key),
      ["b"],
    );
  });

  test("failed, skipped and cancelled tasks are news as well", () => {
    const run = CoreRun.planned([...small("a", "c", "d"), task("b", { after: ["a"] })]);
    run.failForGood("t.1");
    assert.ok(!run.isAsked("t"));
    run.say({ type: "cancel", task: run.task("t.2").id });
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => n.end),
      ["failed", "skipped", "cancelled"],
    );
  });

  test("what settles during a turn is heard in the next one, and nothing is heard twice or lost", () => {
    const run = CoreRun.planned(small("a", "b", "c", "d", "e", "f", "g", "h"));
    run.finish("t.1", "t.2", "t.3");
    run.finish("t.4", "t.5", "t.6");
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => n.key),
      ["a", "b", "c"],
    );
    run.plan("t", []);
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => n.key),
      ["d", "e", "f"],
    );
    run.plan("t", []);
    assert.ok(!run.isAsked("t"));
    run.finish("t.7", "t.8");
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => n.key),
      ["g", "h"],
    );
  });

  test("news survive a failed turn", () => {
    const run = CoreRun.planned(small("a"));
    run.finish("t.1");
    run.fail("plan", "t", "plan-unreadable", "no JSON was found");
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => n.key),
      ["a"],
    );
  });
});

describe("an empty answer", () => {
  test("is a task for one worker when it is the first", () => {
    const run = CoreRun.planned([large("m")]);
    run.plan("t.1", []);
    assert.deepEqual(run.running("work"), ["work:t.1#1"]);
    run.finish("t.1");
    assert.equal(run.is("t.1"), "done");
  });

  test("of the root planner sends the whole goal to one worker", () => {
    const run = CoreRun.planned([]);
    assert.deepEqual(run.running("work"), ["work:t#1"]);
    run.finish("t");
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("waits while something is active", () => {
    const run = CoreRun.planned(small("a", "b", "c", "d"));
    run.finish("t.1", "t.2", "t.3");
    run.plan("t", []);
    assert.equal(run.closed, undefined);
    assert.ok(!run.isAsked("t"));
    run.finish("t.4");
    assert.ok(run.isAsked("t"), "and is asked for once more when nothing is");
  });

  test("ends the plan when nothing is active", () => {
    const run = CoreRun.planned(small("a"));
    run.finish("t.1");
    run.plan("t", []);
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("does not end the plan when something settled while it was written", () => {
    const run = CoreRun.planned(small("a", "b", "c", "d"));
    run.finish("t.1", "t.2", "t.3");
    run.finish("t.4");
    run.plan("t", []);
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => n.key),
      ["d"],
    );
  });
});

describe("an answer that cannot be used", () => {
  const bad = [task("a", { after: ["nobody"] })];

  test("is asked for again at once, with the reasons", () => {
    const run = CoreRun.green();
    run.plan("t", bad);
    assert.equal(run.is("t"), "open");
    assert.match(run.brief("plan", "t").rejected.join(), /"nobody", which does not exist/);
    run.fail("plan", "t", "plan-unreadable", "the text ends in the middle");
    assert.deepEqual(run.brief("plan", "t").rejected, ["the text ends in the middle"]);
  });

  test("is not confused with an empty one, so nothing is called atomic or done", () => {
    const first = CoreRun.green();
    first.fail("plan", "t", "plan-unreadable");
    assert.deepEqual(first.running("work"), []);
    const later = CoreRun.planned(small("a"));
    later.finish("t.1");
    later.fail("plan", "t", "plan-unreadable");
    later.wait(60 * MINUTE);
    assert.equal(later.closed, undefined);
  });

  test("leaves the reasons standing when the model is then out of reach", () => {
    const run = CoreRun.green();
    run.plan("t", bad);
    run.fail("plan", "t", "agent-unreachable");
    run.wait(10 * MINUTE);
    assert.match(run.brief("plan", "t").rejected.join(), /"nobody"/);
  });

  test("is forgiven by a good one: errors count in a row", () => {
    const run = CoreRun.green({ root: { maxErrorsInARow: 2 } });
    run.plan("t", bad);
    run.plan("t", small("a"));
    run.finish("t.1");
    run.plan("t", bad);
    assert.ok(run.isAsked("t"));
    run.plan("t", []);
    run.check();
    assert.equal(run.closed?.how, "done");
  });

  test("gives the planner up after too many in a row, and the run is not done", () => {
    const run = CoreRun.green({ root: { maxErrorsInARow: 3 } });
    for (let n = 0; n < 3; n += 1) run.plan("t", bad);
    assert.equal(run.closed?.how, "failed");
    assert.match(run.closed!.left.join(), /failed 3 times in a row.*"nobody"/);
  });

  test("gives the planner up, but what it started is finished and said to be incomplete", () => {
    const run = CoreRun.planned(small("a", "b", "c", "d"), { root: { maxErrorsInARow: 1 } });
    run.finish("t.1", "t.2", "t.3");
    run.fail("plan", "t", "plan-unreadable");
    assert.deepEqual(run.running("work"), ["work:t.4#1"]);
    run.finish("t.4");
    assert.ok(!run.isAsked("t"));
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.match(run.closed!.left.join(), /planner of the goal failed 1 times/);
  });

  test("gives the planner up, and the run stays open for what is at work", () => {
    const run = CoreRun.planned(
      ["a", "b", "c", "d"].map((id) => task(id, { delivers: "report" })),
      { root: { maxErrorsInARow: 1 } },
    );
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    run.fail("plan", "t", "plan-unreadable");
    assert.deepEqual(run.events("run.closed"), []);
    run.work("t.4");
    assert.equal(run.closed?.how, "incomplete");
  });

  test("of a subplanner is given up after five in a row", () => {
    const run = CoreRun.planned([large("m")]);
    for (let n = 0; n < 4; n += 1) run.plan("t.1", bad);
    assert.equal(run.is("t.1"), "open");
    run.plan("t.1", bad);
    assert.equal(run.is("t.1"), "failed");
  });
});

describe("a planner that cannot be reached", () => {
  test("is asked again after a wait that grows", () => {
    const run = CoreRun.green();
    const waits: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      run.fail("plan", "t", "agent-unreachable");
      assert.ok(!run.isAsked("t"));
      const { retryAt, at } = run.events("plan.rejected").at(-1)!;
      waits.push(retryAt - at);
      run.wait(retryAt - at);
      assert.ok(run.isAsked("t"));
    }
    assert.ok(waits[0]! >= 1_500 && waits[0]! <= 2_000, `${waits[0]}`);
    for (let n = 1; n < 4; n += 1) assert.ok(waits[n]! > 1.3 * waits[n - 1]!, waits.join());
  });

  test("is never called done, however long the outage", () => {
    const run = CoreRun.planned(small("a"));
    run.finish("t.1");
    for (let n = 0; n < 20; n += 1) {
      run.fail("plan", "t", "agent-unreachable", "503");
      run.wait(10 * MINUTE);
    }
    if (run.running("check").length > 0) run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.match(run.closed!.left.join(), /503/);
  });

  test("is not charged for a restart of the engine", () => {
    const run = CoreRun.green({ root: { maxErrorsInARow: 2 } });
    for (let n = 1; n <= 5; n += 1) {
      run.say({ type: "interrupted", job: run.running("plan")[0] as never });
      assert.deepEqual(run.running("plan"), [`plan:t#${n + 1}`]);
    }
    run.fail("plan", "t", "plan-unreadable");
    assert.ok(run.isAsked("t"));
  });
});

describe("a planner that never ends", () => {
  test("is not asked a twenty-first time; what it did counts, and what is missing is said", () => {
    const run = CoreRun.planned([large("m")]);
    for (let n = 1; n <= 20; n += 1) {
      run.plan("t.1", [task(`s${n}`, files("m/a.ts"))]);
      run.finish(`t.1.${n}`);
    }
    assert.equal(run.is("t.1"), "done");
    run.plan("t", []);
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.match(run.closed!.left.join(), /not done after 20 answers/);
  });

  test("nothing to do is not done, if the planner says that it is not", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.plan("t", [], { done: false });
    assert.equal(run.isAsked("t"), true);
    assert.deepEqual(run.brief("plan", "t").rejected, ["give tasks, or say that it is done"]);
  });

  test("an error is not an answer: the twentieth answer still counts", () => {
    const run = CoreRun.planned([task("m", files("m/"))], { subplanner: { maxAnswers: 2 } });
    run.fail("plan", "t.1", "plan-unreadable");
    run.plan("t.1", [task("a", files("m/a.ts"))]);
    run.finish("t.1.1");
    run.plan("t.1", []);
    assert.equal(run.is("t.1"), "done");
    assert.equal(run.state.planners.get(run.task("t").id)!.concerns.size, 0);
  });
});

describe("the scopes of a plan", () => {
  test("what was removed or dropped is told to the planner in its next brief", () => {
    const run = CoreRun.planned([large("m")]);
    run.plan("t.1", [
      task("a", files("m/a.ts", "other/x.ts")),
      task("b", files("other/y.ts")),
      task("c", files("m/b.ts")),
    ]);
    assert.deepEqual(run.task("t.1.1").spec.scope, ["m/a.ts"]);
    assert.equal(run.task("t.1.2").spec.key, "c");
    run.finish("t.1.1");
    const notes = run.brief("plan", "t.1").notes.join("\n");
    assert.match(notes, /"a".*other\/x\.ts.*removed/);
    assert.match(notes, /"b" was dropped/);
    assert.match(notes, /m\/c\.ts is in no task and not deferred/);
    assert.match(notes, /m\/d\.ts is in no task/);
  });

  test("two subtasks of a subplanner with one file are refused, and nothing of the answer is kept", () => {
    const run = CoreRun.planned([large("m")]);
    run.plan("t.1", [task("a", files("m/a.ts")), task("b", files("m/a.ts"))]);
    assert.equal(run.state.tasks.size, 2);
    assert.match(run.brief("plan", "t.1").rejected.join(), /both have m\/a\.ts/);
  });

  test("eleven subtasks at once are refused, ten are not", () => {
    const wide = task("m", files("m/"));
    const many = (n: number) => Array.from({ length: n }, (_, i) => task(`s${i}`, files(`m/${i}.ts`)));
    const run = CoreRun.planned([wide]);
    run.plan("t.1", many(11));
    assert.equal(run.state.tasks.size, 2);
    run.plan("t.1", many(10));
    assert.equal(run.state.tasks.size, 12);
  });

  test("an id that the planner has used before is refused by name", () => {
    const run = CoreRun.planned(small("a"));
    run.finish("t.1");
    run.plan("t", small("a"));
    assert.match(run.brief("plan", "t").rejected.join(), /"a" was already given/);
  });
});

test("a task added below one that failed is skipped at once, with all that waits for it", () => {
  const run = CoreRun.planned(small("a", "x"));
  run.failForGood("t.1");
  run.finish("t.2");
  run.plan("t", [task("b", { after: ["a"] }), task("c", { after: ["b"] }), task("d", { after: ["x"] })]);
  assert.deepEqual(
    ["t.3", "t.4", "t.5"].map((id) => run.is(id)),
    ["skipped", "skipped", "open"],
  );
  assert.deepEqual(
    run.events("task.skipped").map((e) => [e.task, e.because]),
    [
      ["t.3", "t.1"],
      ["t.4", "t.3"],
    ],
  );
  assert.deepEqual(run.running("work"), ["work:t.5#1"]);
});

describe("a planner in an outage", () => {
  test("is borne as long as a worker is, below the root too", () => {
    const run = CoreRun.planned([large("m")]);
    for (let n = 1; n < 20; n += 1) {
      run.fail("plan", "t.1", "agent-unreachable");
      run.wait(10 * MINUTE);
      assert.equal(run.isAsked("t.1"), true, `after ${n} times`);
    }
    run.fail("plan", "t.1", "agent-unreachable");
    assert.equal(run.is("t.1"), "failed");
  });

  test("starts anew with every answer", () => {
    const run = CoreRun.planned([large("m")]);
    run.fail("plan", "t.1", "agent-unreachable");
    run.wait(10 * MINUTE);
    run.plan("t.1", [task("a", files("m/a.ts"))]);
    assert.equal(run.task("t.1").tries.unreachable, 0);
  });
});
