/** Tests how tasks that were not done are replaced or given up, with the reason. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, large, task } from "../../../test/support/core-run.ts";
import type { Addressing } from "../answers/plan-answer.ts";
import { replay } from "../log/evolve.ts";
import { ROOT } from "../task.ts";
import { givenUpOf } from "./given-up.ts";

/** "a" has failed, "b" is done, and the root's planner is asked: its concern is c1. */
function failedRun(): CoreRun {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.failForGood("t.1");
  run.finish("t.2");
  return run;
}

const address = (run: CoreRun, ...addressed: Addressing[]) => run.plan("t", [], { addressed });
const BECAUSE = { concern: "c1", because: "nobody uses it" };
const GIVEN_UP = "given up: a failed: agent-failed (3 times); the planner's reason: nobody uses it";

/** Replaying the log gives the same state, also for what was sent back and given up. */
function assertReplays(run: CoreRun): void {
  const planners = (state: CoreRun["state"]) =>
    [...state.planners].map(([id, { concerns, dealt }]) => [id, [...concerns.values()], dealt]);
  assert.deepEqual(planners(replay(structuredClone(run.log))), planners(run.state));
}

describe("a task that was not done", () => {
  test("and is given up with a reason leaves the run incomplete, with the reason in its end", () => {
    const run = failedRun();
    address(run, BECAUSE);
    run.check();
    assert.deepEqual(run.closed, { how: "incomplete", left: [GIVEN_UP] });
    assert.deepEqual(givenUpOf(run.state), [
      {
        task: "t.1",
        name: "a",
        key: "a",
        failure: "agent-failed (3 times)",
        reason: "nobody uses it",
      },
    ]);
    const { state } = run.task("t");
    assert.ok(state.is === "done" && state.handoff.status === "partial");
    assert.match(state.handoff.summary, /split into 2 subtasks: 1 complete, 1 failed, 0 other/);
    assert.match(
      state.handoff.summary,
      /\[a\] failed: agent-failed \(3 times\) \(given up: nobody uses it\)/,
    );
    assertReplays(run);
  });

  test("and is named by its id alone is sent back once; then no reason was given", () => {
    const run = failedRun();
    const [, rejected] = address(run, { concern: "c1" });
    assert.ok(rejected?.type === "plan.rejected");
    assert.deepEqual([rejected.sentBack, rejected.charge, run.closed], [["c1"], "nothing", undefined]);
    assertReplays(run);
    const { rejected: reasons, concerns } = run.brief("plan", "t");
    assert.match(reasons.join(), /c1 \(a failed: .*"by": "id of your task".*"because": "…"/);
    assert.deepEqual(
      concerns.map(({ id, isSentBack }) => [id, isSentBack]),
      [["c1", true]],
    );
    address(run, { concern: "c1" });
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.match(run.closed!.left.join(), /^given up: a failed: .*; the planner's reason: no reason given$/);
    assertReplays(run);
  });

  test("is sent back also with tasks in the answer, which are not begun before it is answered", () => {
    const run = failedRun();
    run.plan("t", [task("c")], { addressed: [{ concern: "c1" }] });
    assert.equal(run.events("plan.accepted").length, 1);
    run.plan("t", [task("c")], { addressed: [BECAUSE] });
    assert.deepEqual(run.running("work"), ["work:t.3#1"]);
  });

  test("is not lost, nor is its planner, to a planner that may not err at all", () => {
    const run = CoreRun.planned([task("a"), task("b")], { root: { maxErrorsInARow: 1 } });
    run.failForGood("t.1");
    run.finish("t.2");
    address(run, { concern: "c1" });
    assert.ok(run.isAsked("t"));
  });

  test("is made good by a task that took its place and is done, in this answer or an earlier one", () => {
    const now = failedRun();
    now.plan("t", [task("a2")], { addressed: [{ concern: "c1", by: "a2" }] });
    const before = failedRun();
    before.plan("t", [task("a2")]);
    for (const run of [now, before]) {
      run.finish("t.3");
      address(run, ...(run === before ? [{ concern: "c1", by: "a2" }] : []));
      run.check();
      assert.deepEqual(run.closed, { how: "done", left: [] });
      assert.deepEqual(givenUpOf(run.state), []);
      const { state } = run.task("t");
      assert.ok(state.is === "done" && state.handoff.status === "complete");
      assert.match(
        state.handoff.summary,
        /3 subtasks: 2 complete, 1 failed.*\[a\] failed: .*\(replaced by a2\)/s,
      );
      assertReplays(run);
    }
  });

  test("is given up if what was to take its place failed as well, however far that went", () => {
    const run = failedRun();
    run.plan("t", [task("a2")], { addressed: [{ concern: "c1", by: "a2" }] });
    run.failForGood("t.3");
    run.plan("t", [task("a3")], { addressed: [{ concern: "c2", by: "a3" }] });
    run.failForGood("t.4");
    address(run, { concern: "c3", because: "three is enough" });
    run.check();
    assert.deepEqual(run.closed!.left, [
      "given up: a failed: agent-failed (3 times); a3, which was to replace it, failed",
      "given up: a2 failed: agent-failed (3 times); a3, which was to replace it, failed",
      "given up: a3 failed: agent-failed (3 times); the planner's reason: three is enough",
    ]);
  });

  test("is made good by the last of several that took the place of each other", () => {
    const run = failedRun();
    run.plan("t", [task("a2")], { addressed: [{ concern: "c1", by: "a2" }] });
    run.failForGood("t.3");
    run.plan("t", [task("a3")], { addressed: [{ concern: "c2", by: "a3" }] });
    run.finish("t.4");
    address(run);
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("is given up while a person calls off what was to take its place", () => {
    const run = failedRun();
    run.plan("t", [task("a2")], { addressed: [{ concern: "c1", by: "a2" }] });
    run.say({ type: "cancel", task: run.task("t.3").id, reason: "no" });
    address(run);
    run.check();
    assert.match(run.closed!.left.join(), /a2, which was to replace it, was cancelled$/);
  });

  test("that was skipped, or only partly done, is asked about like one that failed", () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] }), large("m"), task("c")]);
    run.plan("t.3", [task("x", { scope: ["m/a.ts"] }), task("y", { scope: ["m/b.ts"] })]);
    run.finish("t.3.1");
    run.plan("t.3", []);
    run.failForGood("t.3.2");
    run.plan("t.3", []);
    run.failForGood("t.1");
    run.finish("t.4");
    const { concerns } = run.brief("plan", "t");
    const undone = concerns.filter(({ kind }) => kind === "undone");
    const [, rejected] = address(run, ...concerns.map(({ id }) => ({ concern: id })));
    assert.ok(rejected?.type === "plan.rejected");
    assert.deepEqual(
      rejected.sentBack,
      undone.map(({ id }) => id),
    );
    assert.equal(undone.length, 3);
  });

  test("inside of a subplan reaches the top with its reason, and what is given up there, too", () => {
    const run = CoreRun.planned([task("m", { scope: ["m/"] })]);
    run.plan("t.1", [task("x", { scope: ["m/x.ts"] }), task("y", { scope: ["m/y.ts"] })]);
    run.finish("t.1.1");
    run.plan("t.1", []);
    run.failForGood("t.1.2");
    run.plan("t.1", [], { addressed: [{ concern: "c1", because: "too hard" }] });
    const { state } = run.task("t.1");
    assert.ok(state.is === "done" && state.handoff.status === "partial");
    const [concern] = run.brief("plan", "t").concerns;
    assert.equal(concern!.text, "m: y failed: agent-failed (3 times) (given up: too hard)");
    address(run, { concern: concern!.id, because: "so be it" });
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.deepEqual(run.closed!.left, [`given up: ${concern!.text}; the planner's reason: so be it`]);
    assert.deepEqual(
      givenUpOf(run.state).map(({ name, reason }) => [name, reason]),
      [
        ["m", "so be it"],
        ["m/y", "too hard"],
      ],
    );
  });

  test("inside of a subplan that another task took the place of is no longer spoken of", () => {
    const run = CoreRun.planned([large("m")]);
    run.plan("t.1", [task("x", { scope: ["m/a.ts"] })]);
    run.failForGood("t.1.1");
    run.plan("t.1", [], { addressed: [{ concern: "c1", because: "too hard" }] });
    assert.equal(run.is("t.1"), "failed");
    run.plan("t", [task("m2")], { addressed: [{ concern: "c2", by: "m2" }] });
    run.finish("t.2");
    address(run);
    run.check();
    assert.deepEqual([run.closed, givenUpOf(run.state)], [{ how: "done", left: [] }, []]);
  });
});

describe("what cannot replace a task is refused with the reason", () => {
  const refusedFor = (run: CoreRun, addressed: Addressing, why: RegExp) => {
    const [, rejected] = address(run, addressed);
    assert.ok(rejected?.type === "plan.rejected" && rejected.charge === "error");
    assert.match(rejected.reasons.join(), why);
    assert.ok(run.state.planners.get(ROOT)!.concerns.has(addressed.concern));
  };

  test("a task that does not exist, the task itself, or one that failed as well", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c", { after: ["a"] }), task("d")]);
    run.failForGood("t.1");
    run.say({ type: "cancel", task: run.task("t.4").id, reason: "no" });
    run.finish("t.2");
    refusedFor(run, { concern: "c1", by: "z" }, /"z" cannot replace c1: there is no such task/);
    refusedFor(run, { concern: "c1", by: "a" }, /it is the task itself/);
    for (const by of ["b", "c", "d"])
      refusedFor(run, { concern: "c1", by }, /that task was given before this was known/);
    run.plan("t", [task("e"), task("f"), task("g", { after: ["e"] })]);
    run.say({ type: "cancel", task: run.task("t.6").id, reason: "no" });
    run.failForGood("t.5");
    refusedFor(run, { concern: "c1", by: "e" }, /it failed itself/);
    refusedFor(run, { concern: "c1", by: "f", because: "x" }, /it was cancelled itself/);
    refusedFor(run, { concern: "c1", by: "g" }, /it was skipped itself/);
  });

  test("a task of this answer that was dropped, with what was wrong with it", () => {
    const run = CoreRun.planned([task("m", { scope: ["m/"] })]);
    run.plan("t.1", [task("x", { scope: ["m/x.ts"] })]);
    run.failForGood("t.1.1");
    const fields = { addressed: [{ concern: "c1", by: "out" }] };
    run.plan("t.1", [task("x2", { scope: ["m/x.ts"] }), task("out")], fields);
    const reasons = run.brief("plan", "t.1").rejected.join("; ");
    assert.match(reasons, /"out" cannot replace c1: there is no such task; task "out" was dropped/);
  });

  test("another one that was taken back: two cannot stand in for each other", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.finish("t.1");
    run.finish("t.2");
    run.plan("t", [task("c")]);
    run.wait(600_000);
    run.check([], "", { tip: "base", landings: [], lost: ["commit-1", "commit-2"] });
    run.check();
    run.finish("t.3");
    refusedFor(run, { concern: "c1", by: "b" }, /that task was given before this was known/);
    refusedFor(run, { concern: "c2", by: "a" }, /that task was given before this was known/);
  });

  test("what a landing that was taken back was a part of", () => {
    const run = CoreRun.planned([large("m")]);
    run.plan("t.1", [task("x", { scope: ["m/a.ts"] })]);
    run.finish("t.1.1");
    run.plan("t.1", []);
    run.wait(600_000);
    run.check([], "", { tip: "base", landings: [], lost: ["commit-1"] });
    run.check();
    run.plan("t", [task("b")]);
    run.finish("t.2");
    const lost = run.brief("plan", "t").concerns.find(({ text }) => text.includes("taken back"));
    refusedFor(run, { concern: lost!.id, by: "m" }, /that task was given before this was known/);
    const members = [{ task: run.task("t.1.1").id, attempt: 1 }];
    address(run, { concern: lost!.id, because: "whatever" });
    assert.equal(givenUpOf(run.state).length, 1);
    run.check([], "", { tip: "commit-1", landings: [{ commit: "commit-1", members }] });
    assert.deepEqual(givenUpOf(run.state), [], "it is there again");
  });
});

test("what a person called off is counted, and held against nobody", () => {
  const run = CoreRun.planned([large("m")]);
  run.plan("t.1", [task("x", { scope: ["m/a.ts"] }), task("y", { scope: ["m/b.ts", "m/c.ts", "m/d.ts"] })]);
  run.say({ type: "cancel", task: run.task("t.1.1").id, reason: "not now" });
  run.plan("t.1", []);
  run.finish("t.1.2");
  run.plan("t.1", []);
  const { state } = run.task("t.1");
  assert.ok(state.is === "done" && state.handoff.status === "complete");
  assert.match(
    state.handoff.summary,
    /split into 2 subtasks: 1 complete.*\[x\] blocked: cancelled: not now/s,
  );
});
