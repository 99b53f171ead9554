/** Tests the start and end times of tasks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlannedTask } from "./planned-task.ts";
import { TaskGraph } from "./task-graph.ts";

const task = (id: string, dependencies: readonly string[] = []) => ({ id, description: id, dependencies });

/** A graph whose clock advances by one with each reading, from 0. */
function timed(...tasks: readonly Parameters<TaskGraph["addTask"]>[0][]) {
  let time = 0;
  return new TaskGraph(tasks, { now: () => time++ });
}
const times = (of: PlannedTask | undefined) => [of?.startedAt, of?.completedAt];

test("a task says when it was started, and when it was complete, failed or cancelled", () => {
  const graph = timed(task("a"), task("b"), task("c"), task("d"), task("below", ["b"]));
  assert.deepEqual(times(graph.getTask("a")), [undefined, undefined]);
  assert.ok(!("startedAt" in graph.getTask("a")!));
  graph.markRunning("a");
  assert.deepEqual(times(graph.getTask("a")), [0, undefined]);
  graph.markComplete("a");
  assert.deepEqual(times(graph.getTask("a")), [0, 1]);
  graph.markRunning("b");
  graph.markFailed("b", "no");
  assert.deepEqual(times(graph.getTask("b")), [2, 3]);
  graph.markCancelled("c");
  assert.deepEqual(times(graph.getTask("c")), [undefined, 4]);
  graph.markComplete("d");
  assert.deepEqual(times(graph.getTask("d")), [undefined, 5]);
  assert.deepEqual(times(graph.getTask("below")), [undefined, undefined], "it was skipped: it never ran");
});

test("a task that was given back has neither, until it is started again", () => {
  const graph = timed(task("a"));
  graph.markRunning("a");
  graph.markPending("a");
  assert.deepEqual(times(graph.getTask("a")), [undefined, undefined]);
  graph.markRunning("a");
  assert.deepEqual(times(graph.getTask("a")), [1, undefined]);
});

test("an execution notes both, and listeners and executors see them", async () => {
  const graph = timed(task("a"), task("b", ["a"]));
  const seen: (readonly [string, ...unknown[]])[] = [];
  graph.on("task.started", ({ task: of }) => seen.push(["started", ...times(of)]));
  graph.on("task.completed", ({ task: of }) => seen.push(["completed", ...times(of)]));
  await graph.execute(async (of) => {
    seen.push(["at work", ...times(of)]);
    return { success: of.id === "a" };
  });
  assert.deepEqual(seen, [
    ["started", 0, undefined],
    ["at work", 0, undefined],
    ["completed", 0, 1],
    ["started", 2, undefined],
    ["at work", 2, undefined],
  ]);
  assert.deepEqual(times(graph.getTask("b")), [2, 3]);
});

test("times of a saved graph are kept, but for those of a task that starts or ends anew", () => {
  const graph = timed(task("a"), task("b"), task("c"), task("d"));
  for (const id of ["a", "b", "c"]) graph.markRunning(id);
  graph.markComplete("a", { success: true, output: "", duration: 1 });
  graph.markFailed("b", "no");
  const saved = JSON.parse(JSON.stringify(graph.getAllTasks()));
  const restored = new TaskGraph(saved, { now: () => 100 });
  assert.deepEqual(restored.getAllTasks(), graph.getAllTasks());
  restored.markComplete("c");
  assert.deepEqual(times(restored.getTask("c")), [2, 100]);
  const early = { ...task("e"), startedAt: 1, completedAt: 2 };
  assert.deepEqual(times(timed(early).getTask("e")), [undefined, undefined]);
  assert.deepEqual(times(timed({ ...early, status: "running" }).getTask("e")), [1, undefined]);
});

test("a time that is none is refused, with the task's name", () => {
  for (const startedAt of ["now", Number.NaN, new Date()] as unknown as readonly number[])
    assert.throws(() => timed({ ...task("a"), startedAt }), /startedAt of task "a" must be a number/);
});

test("without a clock of one's own, times are those of the day", () => {
  const before = Date.now();
  const graph = new TaskGraph([task("a")]);
  graph.markRunning("a");
  const { startedAt = 0 } = graph.getTask("a")!;
  assert.ok(startedAt >= before && startedAt <= Date.now());
});

test("a summary counts all tasks of the graph, by names that other planners use as well", async () => {
  const graph = timed(task("a"), task("b"), task("below", ["b"]), task("c"));
  graph.markCancelled("c");
  const summary = await graph.execute(async ({ id }) => ({ success: id === "a" }));
  const { totalCount, completedCount, failedCount, skippedCount, cancelledCount, progress } = summary;
  assert.deepEqual([totalCount, completedCount, failedCount, skippedCount, cancelledCount], [4, 1, 1, 1, 1]);
  const { total, completed, failed, skipped, cancelled } = progress;
  assert.deepEqual(
    [totalCount, completedCount, failedCount, skippedCount, cancelledCount],
    [total, completed, failed, skipped, cancelled],
  );
});
