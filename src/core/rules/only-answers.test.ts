/** Tests that a run which was asked for an answer ends done with it, even if the target fails its gate. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";

const asked = () => new CoreRun({ baseFirstMs: 60_000, probe: true }, "report");

describe("a run whose goal is a question", () => {
  test("asks its planner at once, without a look at the target, and is done with the answer", () => {
    const run = asked();
    assert.deepEqual(run.running(), ["plan:t#1"]);
    run.plan("t", [task("why", { delivers: "report", scope: [] })]);
    run.work("t.1", { summary: "a test reads the clock" });
    run.plan("t", []);
    assert.equal(run.state.closed?.how, "done");
    assert.deepEqual(run.events("target.checked"), []);
  });

  test("is done by one worker where the planner does not split it", () => {
    const run = asked();
    run.plan("t", []);
    run.work("t", { summary: "a test reads the clock" });
    assert.equal(run.state.closed?.how, "done");
    assert.equal(run.events("task.done")[0]!.ended, "answered");
  });

  test("has no tasks that change something, whatever its planner says: a right answer would fail with them", () => {
    const run = asked();
    run.plan("t", [task("why"), task("fix")]);
    assert.deepEqual(run.events("plan.accepted")[0]!.notes, [
      'task "why" delivers a report: the goal only asks',
      'task "fix" delivers a report: the goal only asks',
    ]);
    run.work("t.1", { summary: "a test reads the clock", filesChanged: [] });
    run.work("t.2", { summary: "give it a day", filesChanged: [] });
    run.plan("t", []);
    assert.equal(run.state.closed?.how, "done");
  });

  test("is checked like any other as soon as a task of it is to change something, because the user asks for it", () => {
    const run = asked();
    run.say({ type: "steer", message: "and then fix it" });
    run.plan("t", [task("why", { delivers: "report", scope: [] }), task("fix")]);
    assert.deepEqual(run.running("check"), ["check#1"]);
  });
});
