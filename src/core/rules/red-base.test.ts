/** Tests what happens to a run whose base fails before an agent is paid. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, MINUTE, type PolicyChanges, task } from "../../../test/support/core-run.ts";
import { replay } from "../log/evolve.ts";
import { emptyStory } from "../view/story.ts";
import { viewOf } from "../view/view.ts";
import { waitOf } from "../view/view-wait.ts";

const FIRST = { baseFirstMs: 40 * MINUTE };
const jobsOf = (run: CoreRun) => run.running().toSorted();
const seen = (run: CoreRun) => viewOf({ state: run.state, story: emptyStory() });

/** The base has failed twice. */
function redBase(changes: PolicyChanges, ...names: readonly string[]): CoreRun {
  const failing = names.length > 0 ? names : ["test: x"];
  const run = new CoreRun({ ...FIRST, ...changes });
  for (let look = 0; look < 2; look += 1) run.check(failing);
  return run;
}

describe("a base that fails twice before an agent is paid", () => {
  it("is repaired first unless something else is said, and the log has what failed", () => {
    const run = redBase({});
    const [failed] = run.events("base.failed");
    assert.deepEqual([failed?.choice, failed?.look.failures], ["repair", ["test: x"]]);
    assert.equal(run.events("repair.planned").length, 1);
    assert.deepEqual(replay(run.log).redBase, run.state.redBase);
  });

  it("stops the run where that is said, with nothing started, and is looked at again by resume", () => {
    const run = redBase({ onRedBase: "stop" });
    run.wait(24 * 60 * MINUTE);
    assert.deepEqual(jobsOf(run), []);
    assert.match(
      run.state.setup.failure!.message,
      /^the gate fails on the untouched base.*no agent was started/,
    );
    assert.equal(run.events("repair.planned").length, 0);
    run.say({ type: "resume" });
    assert.deepEqual(jobsOf(run).length, 1);
    run.check();
    assert.ok(jobsOf(run).includes("plan:t#1"), "it was mended meanwhile");
  });

  it("is worked beside where that is said: no fix tasks, and what makes nothing worse lands", () => {
    const run = redBase({ onRedBase: "continue" });
    assert.equal(run.events("repair.planned").length, 0);
    run.plan("t", [task("a")]);
    run.work("t.1");
    assert.equal(run.running("land").length, 1);
    run.wait(60 * MINUTE);
    assert.equal(run.events("repair.planned").length, 0);
  });

  it("is said to be broken further by what fails there alone, and not to be left unrepaired", () => {
    const run = redBase({ onRedBase: "continue" });
    run.plan("t", [task("a")]);
    run.work("t.1");
    run.landRed(["test: y"]);
    run.landRed(["test: y"]);
    run.check(["test: x"]);
    const [refused] = run.events("task.retried");
    assert.match(
      refused!.failure.message,
      /^the target fails, and this change breaks what passes there: test: y/,
    );
  });

  it("is asked about where that is said: nothing starts and nothing is looked at until there is an answer", () => {
    const run = redBase({ onRedBase: "ask", budget: { task: { maxMicrodollars: 2_000_000 } } });
    run.wait(29 * MINUTE);
    assert.deepEqual(jobsOf(run), []);
    const [question] = seen(run).questions;
    assert.equal(question?.question, "base");
    assert.match(question.text, /repair, continue or stop\?$/m);
    assert.match(question.text, /at most 1 fix task .*5 attempts each, for at most \$2\.00/);
    assert.match(waitOf(run.state, run.policy, run.now)!.what, /answer to base/);
    run.say({ type: "answer", question: "base", text: "perhaps" });
    assert.equal(run.events("command.refused").length, 1);
    run.say({ type: "answer", question: "base", text: " Continue " });
    assert.deepEqual(
      run.events("base.answered").map(({ choice, by }) => [choice, by]),
      [["continue", "person"]],
    );
    assert.ok(jobsOf(run).includes("plan:t#1"));
    assert.deepEqual(seen(run).questions, []);
  });

  it("takes the default when the question's time is up, with the fix tasks that were offered", () => {
    const run = redBase({ onRedBase: "ask" });
    run.wait(31 * MINUTE);
    assert.deepEqual(
      run.events("base.answered").map(({ choice, by }) => [choice, by]),
      [["repair", "default"]],
    );
    assert.equal(run.events("repair.planned").length, 1);
    assert.ok(run.running("work").length === 1 || run.running("plan").length === 1);
  });

  it("can be stopped by the answer, and cancelled before there is one", () => {
    const run = redBase({ onRedBase: "ask" });
    run.say({ type: "answer", question: "base", text: "stop" });
    assert.equal(run.state.setup.failure?.kind, "setup");
    assert.deepEqual(jobsOf(run), []);
    const other = redBase({ onRedBase: "ask" });
    other.say({ type: "cancel" });
    assert.equal(other.closed?.how, "cancelled");
  });

  it("says that the price is unknown where nothing limits it", () => {
    assert.match(
      seen(redBase({ onRedBase: "ask" })).questions[0]!.text,
      /of unknown price: no budget is set/,
    );
  });

  it("gets one round of fix tasks for each class, and no second one for what is left", () => {
    const run = redBase({ repair: { maxTasks: 1 } }, "test: x", "test: y");
    const [fix] = run.events("repair.planned").flatMap(({ into }) => into);
    run.finish(fix!.id);
    for (let look = 0; look < 2 && run.events("repair.given-up").length === 0; look += 1) {
      run.wait(2 * MINUTE);
      if (run.running("check").length > 0) run.check(["test: y"]);
    }
    assert.equal(run.events("repair.planned").length, 1);
    assert.equal(run.events("repair.given-up").length, 1);
  });
});
