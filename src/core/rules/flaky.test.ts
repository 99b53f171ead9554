/** Tests that flaky tests are recognised, and that no task is blamed for them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, task, twoToLand } from "../../../test/support/core-run.ts";
import { replay } from "../log/evolve.ts";
import { emptyStory } from "../view/story.ts";
import { viewOf } from "../view/view.ts";

/** It failed and then passed on the same tree; another task is about to land, alone. */
function afterRedAndGreen(failure: string): CoreRun {
  const run = twoToLand();
  run.landRed([failure]);
  run.land();
  run.say({ type: "steer", message: "one more" });
  run.plan("t", [task("c")]);
  run.work("t.4");
  return run;
}

describe("a red gate", () => {
  test("of a test that is known to be flaky must be red five times in a row before anybody is blamed", () => {
    const run = afterRedAndGreen("test: clock");
    for (let i = 0; i < 4; i += 1) {
      run.landRed(["test: clock"]);
      assert.deepEqual([run.candidate(), run.running("check")], [["t.4"], []], `red ${i + 1} times`);
    }
    run.landRed(["test: clock"]);
    assert.deepEqual(run.running("check"), ["check#2"]);
    run.check();
    assert.equal(run.task("t.4").tries.refused, 1, "five times with it, and not without: it is to blame");
  });

  test("of a command that names no test is never taken for a flaky test", () => {
    const run = afterRedAndGreen("test");
    run.landRed(["test"]);
    run.landRed(["test"]);
    assert.deepEqual(run.running("check"), ["check#2"]);
  });

  test("of a flaky test and of another one is judged by the other", () => {
    const run = afterRedAndGreen("test: clock");
    run.landRed(["test: clock", "test: x"]);
    run.landRed(["test: clock", "test: x"]);
    assert.deepEqual(run.running("check"), ["check#2"]);
  });

  test("of a test that an earlier run saw come and go is one of a flaky test, and not told as this run's", () => {
    const run = new CoreRun();
    const known = ["test: clock"];
    const opened = replay([
      { ...run.events("run.opened")[0]!, request: { ...run.state.request!, flaky: known } },
    ]);
    assert.deepEqual([...opened.flaky], [["test: clock", 0]]);
    assert.deepEqual(viewOf({ state: opened, story: emptyStory() }).flaky, []);
  });

  test("on the target that is gone at the next look, on the same commit, was a flaky test as well", () => {
    const run = CoreRun.planned([task("z")]);
    run.finish("t.1");
    run.plan("t", []);
    run.check(["test: clock"]);
    run.check();
    assert.deepEqual([...run.state.flaky], [["test: clock", 1]]);
  });

  test("for what the base fails too, if only once, blames nobody", () => {
    const run = twoToLand();
    run.landRed();
    run.landRed();
    run.check(["test: x"]);
    assert.equal(run.state.target.health, "suspect");
    run.check();
    assert.deepEqual(run.events("task.retried"), []);
    assert.deepEqual(run.candidate(), ["t.2", "t.3"], "judged once more");
  });
});
