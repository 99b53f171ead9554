/** Tests which tasks land next, and what follows if the target moved or commits are gone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import type { JobId } from "../job.ts";
import type { TaskId } from "../task.ts";

const member = (id: string, attempt = 1) => ({ task: id as TaskId, attempt });

describe("what lands next", () => {
  /** All tasks become ready to land while the first one is gated. */
  const ready = (tasks: ReturnType<typeof task>[], changes = {}) => {
    const run = CoreRun.planned([task("first", { priority: 1 }), ...tasks], {
      capacity: { work: 100 },
      ...changes,
    });
    for (const [i] of [undefined, ...tasks].entries()) run.work(`t.${i + 1}`);
    assert.deepEqual(run.candidate(), ["t.1"]);
    return run;
  };

  test("goes by priority, then by age, not by which task finished first", () => {
    const run = CoreRun.planned(
      [task("first"), task("a"), task("b", { priority: 2 }), task("c"), task("d", { priority: 2 })],
      { landing: { strategy: "rebase" } },
    );
    for (const id of ["t.1", "t.5", "t.4", "t.3", "t.2"]) run.work(id);
    const order: (readonly string[])[] = [];
    while (run.candidate().length > 0) {
      order.push(run.candidate());
      run.land();
    }
    assert.deepEqual(order, [["t.1"], ["t.3"], ["t.5"], ["t.2"], ["t.4"]]);
  });

  test("is a batch: what became ready while the last one was gated lands together", () => {
    const run = ready([task("a"), task("b"), task("c")]);
    run.land();
    assert.deepEqual(run.candidate(), ["t.2", "t.3", "t.4"]);
    run.land();
    assert.equal(run.events("batch.landed").at(-1)!.members.length, 3);
  });

  test("is at most as many as the policy allows", () => {
    const run = ready([task("a"), task("b"), task("c")], { landing: { maxBatch: 2 } });
    run.land();
    assert.deepEqual(run.candidate(), ["t.2", "t.3"]);
  });

  for (const strategy of ["rebase", "fast-forward"] as const) {
    test(`is one task at a time with ${strategy}`, () => {
      const run = ready([task("a"), task("b")], { landing: { strategy } });
      assert.equal(run.brief("land").strategy, strategy);
      run.land();
      assert.deepEqual(run.candidate(), ["t.2"]);
      run.land();
      assert.deepEqual(run.candidate(), ["t.3"]);
    });
  }

  test("is one candidate at a time, each built on what the last one left", () => {
    const run = ready([task("a")]);
    assert.equal(run.running("land").length, 1);
    assert.equal(run.brief("land").onto, "base");
    run.land();
    assert.equal(run.brief("land").onto, "commit-1");
  });

  test("is nothing before the target was looked at", () => {
    const run = new CoreRun();
    run.plan("t", [task("a")]);
    run.work("t.1");
    assert.deepEqual(run.running(), ["check#1"]);
    run.check();
    assert.deepEqual(run.candidate(), ["t.1"]);
  });

  test("names the attempt and its branch, so that no other attempt can land for it", () => {
    const run = CoreRun.planned([task("a", { description: "Add the login: step 2" })]);
    run.fail("work", "t.1");
    run.work("t.1");
    const [landing] = run.brief("land").members;
    assert.equal(landing!.branch, "skein/r/task/t.1.2-add-the-login-step-2");
    assert.equal(landing!.attempt, 2);
  });
});

describe("work that somebody has removed from the repository", () => {
  test("is made again, which is counted as lost, and the others of its batch are not gated for nothing", () => {
    const run = CoreRun.planned([task("first"), task("a"), task("b")]);
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    run.land();
    assert.deepEqual(run.candidate(), ["t.2", "t.3"]);
    run.answer("land#2", { is: "gone", members: [member("t.2")] });
    const [retried] = run.events("task.retried");
    assert.deepEqual([retried!.task, retried!.charge, retried!.failure.kind], ["t.2", "lost", "repository"]);
    assert.deepEqual(run.candidate(), ["t.3"]);
    run.land();
    run.wait(MINUTE);
    run.work("t.2");
    assert.deepEqual(run.brief("land").members[0]!.attempt, 2);
    run.land();
    assert.deepEqual([run.is("t.2"), run.is("t.3")], ["done", "done"]);
  });

  test("is a failed landing if it is nobody's: a repository can be written by others", () => {
    const run = CoreRun.planned([task("first"), task("a")]);
    for (const id of ["t.1", "t.2"]) run.work(id);
    run.answer("land#1", { is: "gone", members: [member("t.2")] });
    assert.deepEqual(run.events("task.retried"), []);
    assert.match(run.events("landing.turned").at(-1)!.failure!.message, /returned no result/);
  });

  test("leaves a candidate that is gated once more: who is left is another one", () => {
    const run = CoreRun.planned([task("first"), task("a"), task("b")]);
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    run.land();
    run.landRed(["test: x"]);
    assert.equal(run.state.landing.phase.is, "again");
    run.answer("land#3", { is: "gone", members: [member("t.3")] });
    assert.equal(run.state.landing.phase.is, "open");
    assert.deepEqual(run.candidate(), ["t.2"]);
  });
});

describe("a target that is not where it was thought to be", () => {
  const lost = () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.work("t.1");
    run.wait(20 * MINUTE); // The landing's lease is over; it may have moved the target.
    run.wait(MINUTE);
    assert.deepEqual(run.running("land"), ["land#2"]);
    return run;
  };
  const found = { tip: "L", landings: [{ commit: "L", members: [member("t.1")] }] };

  test("has what a lost job landed: it is done, and does not land twice", () => {
    const run = lost();
    run.landMoved(found);
    assert.equal(run.is("t.1"), "done");
    assert.deepEqual(run.running("land"), []);
    assert.equal(run.state.target.tip, "L");
    assert.equal(run.events("batch.landed").at(-1)!.proof, "found");
    run.finish("t.2");
    assert.deepEqual(
      run.events("batch.landed").map((e) => e.members.map((m) => m.task)),
      [["t.1"], ["t.2"]],
    );
  });

  test("has an attempt that was thought lost: the newer one is stopped", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.work("t.1");
    run.land([{ task: "t.1" as TaskId, files: ["a.ts"], against: "target" }]);
    assert.ok(run.running("work").includes("work:t.1#2"));
    run.work("t.2");
    run.landMoved(found);
    assert.equal(run.is("t.1"), "done");
    assert.ok(!run.running("work").includes("work:t.1#2"));
    assert.deepEqual(
      run
        .events("job.ended")
        .filter((e) => e.how === "aborted")
        .map((e) => e.job),
      ["work:t.1#2"],
    );
  });

  test("is found by a check as well, also in the middle of a bisection", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    run.landRed();
    run.wait(20 * MINUTE);
    run.say({ type: "base-moved", commit: "b2" });
    run.check([], "", found);
    assert.equal(run.is("t.1"), "done");
    run.wait(MINUTE);
    assert.deepEqual(run.running("land"), [], "nothing is left to land");
  });

  test("has what is known already: that is not counted again", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.finish("t.1");
    run.work("t.2");
    const known = { commit: "commit-1", members: [member("t.1")] };
    run.landMoved({ tip: "foreign", landings: [known] });
    assert.equal(run.events("batch.landed").length, 1);
    assert.equal(run.state.target.tip, "foreign");
  });

  test("has what was cancelled meanwhile: it is in the tree, and stays cancelled", () => {
    const run = lost();
    run.work("t.2");
    run.say({ type: "interrupted", job: "land#2" as never });
    run.say({ type: "interrupted", job: "land#3" as never });
    run.landFailed();
    run.say({ type: "cancel", task: "t.1" as TaskId });
    run.wait(MINUTE);
    run.landMoved(found);
    assert.equal(run.is("t.1"), "cancelled");
    assert.equal(run.state.target.tip, "L");
    assert.deepEqual(run.candidate(), ["t.2"]);
  });

  test("was moved by somebody else: it is checked again before anything lands", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    run.landMoved({ tip: "foreign", landings: [] });
    assert.deepEqual(run.running(), ["check#2"]);
    assert.equal(run.brief("check").tip, "foreign");
    run.check();
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.equal(run.brief("land").onto, "foreign");
    assert.equal(run.task("t.1").tries.refused, 0);
  });

  test("was put back to where it had been: that is seen, and checked", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.finish("t.1");
    run.work("t.2");
    run.landMoved({ tip: "base", landings: [] });
    assert.equal(run.brief("check").tip, "base");
    run.check();
    assert.equal(run.brief("land").onto, "base");
  });

  test("was not moved at all: such an answer is an error, and is not repeated without end", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    for (let n = 0; n < 20; n += 1) {
      run.landMoved({ tip: "base", landings: [] });
      assert.deepEqual(run.running("land"), []);
      run.wait(10 * MINUTE);
    }
    assert.equal(run.is("t.1"), "failed");
  });

  test("old news from a check does not move it back", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.say({ type: "base-moved", commit: "b2" });
    run.finish("t.1");
    run.finish("t.2");
    const report = { commands: [] };
    const moved = { tip: "commit-1", landings: [] };
    run.answer("check#2", { is: "checked", tip: "base", report, problems: [], moved });
    assert.equal(run.state.target.tip, "commit-2");
  });
});

describe("a task that is cancelled while its candidate is gated", () => {
  const landing = () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] }), task("c")]);
    run.work("t.1");
    run.say({ type: "cancel", task: "t.1" as TaskId });
    assert.equal(run.is("t.1"), "landing");
    return run;
  };

  test("is done if it lands all the same", () => {
    const run = landing();
    run.land();
    assert.equal(run.is("t.1"), "done");
    assert.ok(run.running("work").includes("work:t.2#1"));
  });

  const ends: readonly (readonly [string, (run: CoreRun) => void])[] = [
    ["red", (run) => run.landRed()],
    ["in conflict", (run) => run.land([{ task: "t.1" as TaskId, files: ["a.ts"], against: "target" }])],
    ["broken down", (run) => run.landFailed()],
    ["overtaken", (run) => run.landMoved({ tip: "foreign", landings: [] })],
  ];
  for (const [how, end] of ends) {
    test(`is cancelled if the candidate was ${how}, and what waits for it is skipped`, () => {
      const run = landing();
      end(run);
      assert.deepEqual([run.is("t.1"), run.is("t.2")], ["cancelled", "skipped"]);
      assert.deepEqual(run.candidate(), []);
    });

    test(`ends a run that is being cancelled if the candidate was ${how}`, () => {
      const run = CoreRun.planned([task("a")]);
      run.work("t.1");
      run.say({ type: "cancel" });
      assert.deepEqual(run.events("run.closed"), []);
      end(run);
      assert.equal(run.closed?.how, "cancelled");
      assert.equal(run.is("t.1"), "cancelled");
    });
  }

  test("leaves the others of its batch to be landed", () => {
    const run = CoreRun.planned([task("z"), task("a"), task("b")]);
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    run.land();
    run.say({ type: "cancel", task: "t.2" as TaskId });
    run.landRed();
    assert.equal(run.is("t.2"), "cancelled");
    assert.deepEqual(run.candidate(), ["t.3"]);
  });
});

test("who was in a red candidate with a task that is then cancelled is judged anew, alone", () => {
  const run = CoreRun.planned([task("z"), task("a"), task("b")]);
  for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
  run.land();
  run.landRed();
  run.landRed();
  run.say({ type: "cancel", task: "t.2" as TaskId });
  assert.equal(run.is("t.2"), "cancelled");
  run.check();
  assert.deepEqual(run.events("task.retried"), [], "nobody has seen it fail");
  assert.deepEqual(run.candidate(), ["t.3"]);
});

describe("a landing that cannot be trusted", () => {
  for (const how of ["expired", "interrupted"] as const) {
    test(`that was ${how} is looked for before the run is called done, also when its task has left`, () => {
      const run = CoreRun.planned([task("a"), task("b")]);
      run.finish("t.2");
      run.wait(10 * MINUTE);
      if (run.running("check").length > 0) run.check(); // So that only the lost landing is a reason for another check.
      run.work("t.1");
      const [land] = run.running("land");
      run.say({ type: "cancel", task: run.task("t.1").id });
      if (how === "expired") run.wait(run.policy.leaseMs.land);
      else run.say({ type: "interrupted", job: land as JobId });
      assert.equal(run.is("t.1"), "cancelled");
      while (run.isAsked("t")) run.plan("t", []);
      assert.equal(run.closed, undefined);
      assert.equal(run.running("check").length, 1, "the target is looked at once more");
    });
  }

  test("that says nothing of its tasks is an error, not a wait without end", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    run.answer(run.running("land")[0]!, { is: "unmergeable", conflicts: [] });
    assert.equal(run.state.landing.errors, 1);
    run.wait(MINUTE);
    assert.deepEqual(run.candidate(), ["t.1"]);
  });

  test("that forgets one of its tasks leaves it in the queue", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c")]);
    run.work("t.1");
    run.work("t.2");
    run.work("t.3");
    run.land();
    const [job] = run.running("land");
    const members = [{ task: run.task("t.2").id, attempt: 1 }];
    run.answer(job!, { is: "landed", commit: "n2", members, conflicts: [], proof: "green" });
    assert.equal(run.is("t.2"), "done");
    assert.deepEqual(run.candidate(), ["t.3"]);
  });

  test("found with the name of a task that does not exist lands nothing", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    const landings = [{ commit: "q", members: [{ task: "t.77" as never, attempt: 1 }] }];
    run.landMoved({ tip: "q", landings });
    assert.equal(run.is("t.1"), "landing");
  });
});
