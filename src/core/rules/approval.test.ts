/** Tests plans that wait for a person: approved, declined or cancelled. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { emptyStory } from "../view/story.ts";
import { viewOf } from "../view/view.ts";
import { waitOf } from "../view/view-wait.ts";

const two = [task("a"), task("b", { after: ["a"] })];
const isWord = (run: CoreRun) => viewOf({ state: run.state, story: emptyStory() }).is;

describe("a plan that needs approval", () => {
  it("is worked on only when a person has approved of it", () => {
    const run = CoreRun.planned(two, { approval: "first" });
    assert.deepEqual(run.running(), []);
    assert.equal(isWord(run), "proposed");
    assert.deepEqual(waitOf(run.state, run.policy, run.now), {
      what: "its plan needs your approval (skein approve)",
    });
    run.say({ type: "approve" });
    assert.deepEqual(run.running(), ["work:t.1#1"]);
    assert.equal(isWord(run), "working");
  });

  it("waits for ever, and through every deadline", () => {
    const run = CoreRun.planned(two, { approval: "first" });
    run.wait(100 * 60 * 60_000);
    assert.deepEqual([run.running("work"), run.running("plan")], [[], []]);
  });

  it("is the first one only, or each of them, as the policy says", () => {
    for (const [approval, proposals] of [
      ["never", 0],
      ["first", 1],
      ["every", 2],
    ] as const) {
      const run = CoreRun.planned([task("a")], { approval });
      if (approval !== "never") run.say({ type: "approve" });
      run.finish("t.1");
      run.plan("t", [task("c")]);
      assert.equal(run.events("plan.proposed").length, proposals, approval);
      assert.equal(run.running("work").length, approval === "every" ? 0 : 1, approval);
    }
  });

  it("that is declined is made again with the reason, under the same names if the planner likes", () => {
    const run = CoreRun.planned(two, { approval: "first" });
    run.say({ type: "decline", reason: "leave the database alone" });
    assert.deepEqual([run.is("t.1"), run.is("t.2")], ["cancelled", "cancelled"]);
    assert.deepEqual(run.running(), ["plan:t#2"]);
    assert.match(run.brief("plan", "t").steers.join(), /declined: leave the database alone/);
    assert.equal(run.brief("plan", "t").first, true, "nothing was agreed on yet");
    run.plan("t", two);
    assert.deepEqual(run.events("plan.rejected"), []);
    assert.deepEqual(run.running(), [], "the second plan is proposed as well");
    run.say({ type: "approve" });
    run.finish("t.3", "t.4");
    run.plan("t", []);
    run.check();
    assert.equal(run.closed?.how, "done");
    const { counts, undone } = viewOf({ state: run.state, story: emptyStory() });
    assert.deepEqual([counts.total, counts.done, undone], [2, 2, []], "what was declined is not left undone");
  });

  it("that is declined may be followed by none: then one worker takes the goal, once that is approved of", () => {
    const run = CoreRun.planned(two, { approval: "first" });
    run.say({ type: "decline", reason: "do it in one go" });
    run.plan("t", []);
    assert.deepEqual(run.running(), []);
    run.say({ type: "approve" });
    assert.deepEqual(run.running(), ["work:t#1"]);
    run.work("t");
    run.land();
    run.check();
    assert.equal(run.closed?.how, "done");
  });

  it("does not keep fixes of a red target waiting", () => {
    const run = new CoreRun({ approval: "first" });
    run.check(["test: x"]);
    run.check(["test: x"]);
    run.plan("t", [task("a")]);
    assert.equal(isWord(run), "proposed");
    assert.deepEqual(run.running("work"), ["work:t.1#1"]);
    assert.equal(run.task("t.1").spec.key, "fix-tests-1");
  });

  it("whose tasks were all called off waits for nobody: the planner is asked again", () => {
    const run = CoreRun.planned(two, { approval: "first" });
    run.say({ type: "cancel", task: run.task("t.1").id });
    assert.deepEqual(run.running(), ["plan:t#2"]);
    assert.notEqual(isWord(run), "proposed");
  });

  it("of which nothing can start, because all of it waits for what failed, is no plan to ask about", () => {
    const run = CoreRun.planned([task("a")], { approval: "every" });
    run.say({ type: "approve" });
    run.failForGood("t.1");
    run.plan("t", [task("b", { after: ["a"] })]);
    assert.equal(run.is("t.2"), "skipped");
    assert.equal(run.events("plan.proposed").length, 1);
    assert.deepEqual(run.running(), ["plan:t#3"]);
  });

  it("asks also where the goal goes to one worker as it is; then there is nothing to decline", () => {
    const run = CoreRun.green({ approval: "first" });
    run.plan("t", []);
    assert.deepEqual(run.running(), []);
    const [refused] = run.say({ type: "decline", reason: "no" });
    assert.equal(refused?.type, "command.refused");
    run.say({ type: "approve" });
    assert.deepEqual(run.running(), ["work:t#1"]);
  });

  it("can be cancelled with its run", () => {
    const run = CoreRun.planned(two, { approval: "first" });
    run.say({ type: "cancel" });
    assert.equal(run.closed?.how, "cancelled");
  });

  it("is counted when it is cancelled, in whatever words", () => {
    const run = CoreRun.planned(two);
    run.say({ type: "cancel", reason: "declined: by those who asked for it" });
    const { counts, undone } = viewOf({ state: run.state, story: emptyStory() });
    assert.equal(counts.total, two.length);
    assert.equal(undone.length, two.length + 1, "and the goal");
  });

  it("that does not exist is neither approved nor declined, and that is said", () => {
    const run = CoreRun.planned(two);
    for (const said of [{ type: "approve" }, { type: "decline", reason: "no" }] as const) {
      const [refused] = run.say(said);
      assert.deepEqual(refused?.type === "command.refused" && refused.reason, "no plan waits for approval");
    }
  });

  it("takes no longer reason than the planner can be told", () => {
    const run = CoreRun.planned(two, { approval: "first", brief: { maxSteerChars: 50 } });
    const [refused] = run.say({ type: "decline", reason: "x".repeat(50) });
    assert.equal(refused?.type, "command.refused");
    assert.deepEqual([run.is("t.1"), isWord(run)], ["open", "proposed"]);
  });
});
