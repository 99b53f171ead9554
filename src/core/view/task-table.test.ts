/** Tests the columns of the task list, and their order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { sortTasks, type TaskColumn, taskFigures } from "./task-table.ts";
import { nothingSeen, see, treeOf } from "./view.ts";

function seen() {
  const run = CoreRun.planned([task("a"), task("b"), task("c")], { capacity: { work: 2 } });
  run.wait(MINUTE);
  run.fail("work", "t.1");
  run.wait(MINUTE);
  run.work("t.2", { spent: { tokens: 700, microdollars: 5_000 } });
  run.wait(MINUTE / 2);
  return { now: run.now, seen: run.log.reduce(see, nothingSeen()) };
}

test("a task has the time of all its attempts, also of the one that is running, its cost and its size", () => {
  const { now, seen: one } = seen();
  const figures = taskFigures(one, now);
  const b = figures.get("t.2" as never)!;
  assert.deepEqual([b.ms, b.attempts, b.tokens, b.microdollars], [2 * MINUTE, 1, 700, 5_000]);
  assert.ok(b.lines !== undefined);
  const a = figures.get("t.1" as never)!;
  assert.ok(a.ms > MINUTE, "its second attempt counts, too");
  assert.equal(a.attempts, 2);
  assert.equal(a.lines, undefined, "it has handed off nothing");
});

test("tasks are sorted by any column, and back to the order of the plan", () => {
  const { now, seen: one } = seen();
  const order = (by: TaskColumn, isReversed = false) =>
    sortTasks(one.state, treeOf(one.state), taskFigures(one, now), { by, isReversed })
      .map(({ id }) => id)
      .filter((id) => id !== "t");
  assert.deepEqual(order("task"), ["t.1", "t.2", "t.3"]);
  assert.deepEqual(order("task", true), ["t.3", "t.2", "t.1"]);
  assert.equal(order("attempts")[0], "t.1");
  assert.equal(order("cost")[0], "t.2");
  assert.equal(order("cost", true).at(-1), "t.2");
  assert.equal(order("size")[0], "t.2");
});
