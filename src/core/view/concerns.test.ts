/** Tests which events count as being about a task. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, large, task } from "../../../test/support/core-run.ts";
import type { TaskId } from "../task.ts";
import { concerns } from "./concerns.ts";

test("of one task are told its own events, those below it, and the landings that it is in", () => {
  const run = CoreRun.planned([large("parser"), task("docs")]);
  run.plan("t.1", [task("lexer", { scope: ["parser/a.ts"] })]);
  run.work("t.1.1");
  run.work("t.2");
  run.land();
  run.land();
  const told = (id: string) =>
    run.log
      .filter((event) => concerns(event, id as TaskId))
      .map((event) => (event.type === "job.started" ? `${event.job.kind} started` : event.type));
  assert.deepEqual(told("t.1.1"), [
    "work started",
    "job.ended",
    "task.handed-off",
    "land started",
    "batch.landed",
  ]);
  assert.ok(told("t.1").includes("plan.accepted"));
  assert.ok(told("t.1").includes("work started"), "what is below it");
  assert.ok(!told("t.2").includes("plan.accepted"));
  assert.equal(told("t").filter((type) => type === "batch.landed").length, 2, "the goal is above everything");
});
