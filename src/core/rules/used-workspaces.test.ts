/** Tests that nothing is decided by a failure in a used workspace alone, and that no candidate is gated without end. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, type PolicyChanges, task } from "../../../test/support/core-run.ts";
import type { Outcome } from "../job.ts";
import { evolve } from "../log/evolve.ts";

const leftovers = { files: ["build/one.so"], more: 2 };

/** One task is about to land. */
function oneToLand(changes: PolicyChanges = {}): CoreRun {
  const run = CoreRun.planned([task("a")], changes);
  run.work("t.1");
  return run;
}

/** Like `landRed` and `check`, in a used workspace. */
function usedRed(run: CoreRun, failures: readonly string[] = ["test: x"]): void {
  const job = run.landing();
  const outcome: Outcome = { is: "red", members: job.members, conflicts: [], failures, leftovers };
  run.answer(`land#${job.turn}`, outcome);
}
function usedCheck(run: CoreRun, failed: string): void {
  const report = { commands: [{ name: "test", green: false, failures: [failed] }] };
  const [job = ""] = run.running("check");
  run.answer(job, { is: "checked", tip: run.state.target.tip, report, problems: [], leftovers });
}

describe("a candidate that is red in a used workspace", () => {
  test("lands if it is green in a fresh one: no test is flaky, nobody is charged, and the files are named", () => {
    const run = oneToLand();
    assert.equal(run.brief("land").isFresh, undefined);
    usedRed(run);
    assert.equal(run.brief("land").isFresh, true);
    run.land();
    assert.deepEqual(run.events("batch.landed")[0]?.flaky, []);
    assert.deepEqual([...run.state.flaky], []);
    assert.deepEqual(
      run.events("leftovers.found").map(({ failures, leftovers: found }) => [failures, found]),
      [[["test: x"], leftovers]],
    );
    assert.deepEqual(run.state.leftovers, { ...leftovers, times: 1 });
    assert.equal(run.task("t.1").tries.refused, 0);
  });

  test("has as many files that are not named as there are at least, however often they were in the way", () => {
    const run = oneToLand();
    const files = (first: number) => Array.from({ length: 10 }, (_, i) => `build/${first + i}.so`);
    for (const first of [0, 5, 0, 5])
      evolve(run.state, {
        ...{ type: "leftovers.found", failures: ["test: x"], at: 0 },
        leftovers: { files: files(first), more: 2 },
      });
    assert.equal(run.state.leftovers?.files.length, 10);
    assert.equal(run.state.leftovers?.more, 5);
  });

  test("is judged by the fresh one: what fails there, too, leads to the target, which is looked at in a fresh one", () => {
    const run = oneToLand();
    usedRed(run);
    run.landRed();
    assert.equal(run.brief("check").isFresh, true);
    run.check();
    assert.equal(run.task("t.1").tries.refused, 1);
    assert.deepEqual(run.events("leftovers.found"), []);
  });

  test("has a flaky test only by what came and went in fresh ones", () => {
    const run = oneToLand();
    usedRed(run, ["test: left"]);
    run.landRed(["test: odd"]);
    run.land();
    assert.deepEqual(run.events("batch.landed")[0]?.flaky, ["test: odd"]);
    assert.deepEqual(run.events("leftovers.found")[0]?.failures, ["test: left"]);
  });

  test("says nothing of leftovers where its tests are known to come and go", () => {
    const run = oneToLand();
    run.landRed(["test: odd"]);
    run.land();
    run.say({ type: "steer", message: "one more" });
    run.plan("t", [task("b")]);
    run.work("t.2");
    usedRed(run, ["test: odd"]);
    run.land();
    assert.deepEqual(run.events("leftovers.found"), []);
  });

  test("is not blamed for a test that comes and goes before that failed five times in fresh ones", () => {
    const run = CoreRun.planned([task("z"), task("a")]);
    run.work("t.1");
    run.landRed(["test: odd"]);
    run.land();
    run.work("t.2");
    usedRed(run, ["test: odd", "test: left"]);
    for (let reds = 1; reds <= 4; reds += 1) run.landRed(["test: odd"]);
    run.land();
    assert.equal(run.task("t.2").tries.refused, 0);
  });

  test("is never refused by machines that make no fresh ones, however often it fails there", () => {
    const run = oneToLand();
    const rounds = run.policy.landing.maxUndecided;
    for (let n = 0; run.is("t.1") === "landing"; n += 1) {
      assert.ok(n < 5 * rounds, "without end");
      usedRed(run);
    }
    assert.deepEqual([run.is("t.1"), run.task("t.1").tries.refused], ["failed", 0]);
  });

  test("does not count against a part of a bisection that fails for another reason", () => {
    const run = CoreRun.planned([task("z"), task("a"), task("b")]);
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    run.land();
    run.landRed();
    run.landRed();
    run.check();
    usedRed(run, ["test: left"]);
    run.landRed(["test: odd"]);
    assert.deepEqual([run.candidate(), run.brief("land").isFresh], [["t.2"], true]);
    run.land();
    assert.equal(run.is("t.2"), "done");
  });

  test("is not refused as the last one left of a bisection", () => {
    const run = CoreRun.planned([task("z"), task("a"), task("b")]);
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    run.land();
    run.landRed();
    run.landRed();
    run.check();
    run.land(); // The first half is green.
    assert.deepEqual([run.candidate(), run.brief("land").isFresh], [["t.3"], true]);
    usedRed(run); // From a machine that cannot make fresh workspaces.
    assert.deepEqual([run.candidate(), run.task("t.3").tries.refused], [["t.3"], 0]);
    run.land();
    assert.equal(run.is("t.3"), "done");
  });
});

describe("a target that is red in a used workspace", () => {
  test("is neither red nor flaky: it is looked at again in a fresh one, and nothing is mended meanwhile", () => {
    const run = new CoreRun();
    assert.equal(run.brief("check").isFresh, undefined);
    usedCheck(run, "x");
    assert.deepEqual([run.state.target.health, run.brief("check").isFresh], ["suspect", true]);
    run.check();
    assert.equal(run.state.target.health, "green");
    assert.deepEqual([...run.state.flaky], []);
    assert.deepEqual(run.events("leftovers.found")[0]?.failures, ["test: x"]);
    assert.deepEqual(run.events("repair.planned"), []);
  });

  test("is not red after a fresh one either, where a machine gave no second fresh one: nothing is mended for it", () => {
    const run = new CoreRun();
    run.check(["test: x"]);
    usedCheck(run, "x");
    assert.equal(run.state.target.health, "suspect");
    assert.deepEqual(run.events("repair.planned"), []);
    run.check(["test: x"]);
    assert.equal(run.state.target.health, "red");
  });

  test("by machines that make no fresh ones is not looked at without end: it counts as a gate that cannot be run", () => {
    const run = oneToLand();
    run.landRed();
    run.landRed();
    const looks = () => run.events("target.checked").length + run.events("target.unchecked").length;
    const before = looks();
    while (run.is("t.1") === "landing") {
      assert.ok(looks() - before <= run.policy.sweep.maxErrorsInARow + 1, "without end");
      if (run.running("check").length > 0) usedCheck(run, "x");
      else run.wait(run.policy.sweep.greenMs);
    }
    assert.equal(run.state.target.health, "suspect");
    const { past } = run.task("t.1");
    assert.match(JSON.stringify(past), /the gate failed in a used workspace where a fresh one was asked for/);
  });

  test("and in a fresh one as well is red at once", () => {
    const run = new CoreRun();
    usedCheck(run, "x");
    run.check(["test: x"]);
    assert.equal(run.state.target.health, "red");
    assert.equal(run.events("repair.planned").length, 1);
    run.wait(run.policy.sweep.redMs);
    assert.equal(run.brief("check").isFresh, true, "fix tasks follow from it");
  });
});

describe("a gate that says one thing and its opposite of the same trees", () => {
  /** The command names no test, so that none can be known as flaky. */
  const redAllOver = (run: CoreRun) => {
    run.landRed(["test"]);
    run.landRed(["test"]);
    run.answer(run.running("check")[0]!, {
      ...{ is: "checked", tip: run.state.target.tip, problems: [] },
      report: { commands: [{ name: "test", green: false, failures: [] }] },
    });
  };
  const cycle = (run: CoreRun) => {
    redAllOver(run);
    run.check();
  };

  test("ends: after three rounds without a culprit the task fails with the reason, and its work is kept", () => {
    const run = oneToLand();
    for (let n = 1; n < run.policy.landing.maxUndecided; n += 1) {
      cycle(run);
      assert.deepEqual([run.is("t.1"), run.candidate()], ["landing", ["t.1"]]);
    }
    redAllOver(run);
    const { state } = run.task("t.1");
    assert.ok(state.is === "failed");
    assert.match(state.failure.message, /^could not be landed: its gate failed \(test\) in 3 rounds/);
    assert.match(state.failure.next ?? "", /the work is kept on skein\/r\/task\/t\.1\.1-/);
    assert.equal(run.task("t.1").tries.attempts, 1, "no agent is paid to make it again");
  });

  test("counts for each task alone: that another one fails is no reason to run its gate more often", () => {
    const run = CoreRun.planned([task("z"), task("a"), task("b")]);
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    run.land();
    for (let n = 1; n <= run.policy.landing.maxUndecided + 1; n += 1) cycle(run);
    assert.deepEqual([run.is("t.2"), run.is("t.3")], ["failed", "failed"]);
  });

  test("has each task judged alone before it fails, and counts anew once the target has moved", () => {
    const run = CoreRun.planned([task("z"), task("a"), task("b")]);
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    run.land();
    for (let n = 1; n < run.policy.landing.maxUndecided; n += 1) {
      assert.deepEqual(run.candidate(), ["t.2", "t.3"]);
      cycle(run);
    }
    assert.deepEqual(run.candidate(), ["t.2"]);
    run.land();
    assert.deepEqual([...run.state.undecided], []);
    assert.deepEqual(run.candidate(), ["t.3"]);
  });
});
