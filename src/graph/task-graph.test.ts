/** Tests the task graph of the library: states, order, results, saved graphs, events and refused input. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CycleError } from "./dag.ts";
import type { PlannedTask, TaskInput } from "./planned-task.ts";
import { TaskGraph } from "./task-graph.ts";

test("a task is pending and without dependencies unless told otherwise", () => {
  const graph = new TaskGraph();
  assert.deepEqual(graph.addTask({ id: "a", description: "A" }), {
    id: "a",
    description: "A",
    dependencies: [],
    status: "pending",
  });
  assert.equal(graph.getTask("b"), undefined);
});

test("tasks come in insertion order, also when a dependency came after its dependent", () => {
  const graph = graphOf({ c: ["a"], b: [], a: [] });
  assert.deepEqual(ids(graph.getAllTasks()), ["c", "b", "a"]);
});

test("fields that the graph does not know are kept", () => {
  const input = { id: "a", description: "A", delegateTo: "debugger", priority: 2, wave: 3 };
  const graph = new TaskGraph([input]);
  assert.deepEqual(graph.getTask("a"), { ...input, dependencies: [], status: "pending" });
});

test("only pending tasks whose dependencies are complete are ready, most urgent first", () => {
  const graph = new TaskGraph([
    { id: "low", description: "", priority: 9 },
    { id: "default", description: "" },
    { id: "urgent", description: "", priority: 1 },
    { id: "below", description: "", priority: 1, dependencies: ["low"] },
    { id: "five", description: "", priority: 5 },
  ]);
  assert.deepEqual(ids(graph.getReady()), ["urgent", "default", "five", "low"]);
  graph.markRunning("urgent");
  graph.markComplete("low");
  assert.deepEqual(ids(graph.getReady()), ["below", "default", "five"]);
});

test("an id can be added once", () => {
  const graph = graphOf({ a: [] });
  assert.throws(() => graph.addTask({ id: "a", description: "again" }), /task "a" is in the graph already/);
  assert.throws(
    () => graphOf({ b: ["a"], a: [] }).addTask({ id: "a", description: "" }),
    /"a" is in the graph/,
  );
  assert.equal(graph.getProgress().total, 1);
});

test("an unknown id is named", () => {
  const graph = graphOf({ a: ["ghost"] });
  for (const id of ["nobody", "ghost"]) {
    const named = new RegExp(`no task "${id}"`);
    assert.throws(() => graph.markRunning(id), named);
    assert.throws(() => graph.markComplete(id), named);
    assert.throws(() => graph.markFailed(id, "x"), named);
    assert.throws(() => graph.markCancelled(id), named);
    assert.throws(() => graph.markPending(id), named);
    assert.equal(graph.getTask(id), undefined);
  }
});

test("a forbidden transition says which task, from what, to what", () => {
  const graph = graphOf({ a: [], b: ["a"], c: [] });
  assert.throws(() => graph.markRunning("b"), /"b" cannot become running: it waits for "a"/);
  assert.throws(() => graph.markComplete("b"), /"b" cannot become complete: it waits for "a"/);
  assert.throws(() => graph.markPending("a"), /"a" cannot become pending: it is pending/);
  graph.markRunning("a");
  assert.throws(() => graph.markRunning("a"), /"a" cannot become running: it is running/);
  graph.markComplete("a");
  assert.throws(() => graph.markComplete("a"), /"a" cannot become complete: it is complete/);
  assert.throws(() => graph.markFailed("a", "x"), /"a" cannot become failed: it is complete/);
  assert.throws(() => graph.markCancelled("a"), /"a" cannot become cancelled: it is complete/);
  graph.markCancelled("c");
  assert.throws(() => graph.markRunning("c"), /"c" cannot become running: it is cancelled/);
});

test("bad input is refused with what is wrong and where", () => {
  const refused: [unknown, RegExp][] = [
    [null, /a task must be an object.*null/],
    ["a", /a task must be an object.*"a"/],
    [{ id: "", description: "x" }, /needs an id.*""/],
    [{ id: 7, description: "x" }, /needs an id.*7/],
    [{ id: "a" }, /"a" needs a description.*undefined/],
    [{ id: "a", description: "x", dependencies: "b" }, /dependencies of task "a".*"b"/],
    [{ id: "a", description: "x", dependencies: [""] }, /"a" depends on ""/],
    [{ id: "a", description: "x", dependencies: [null] }, /"a" depends on null/],
    [{ id: "a", description: "x", priority: Number.NaN }, /priority of task "a".*NaN/],
    [{ id: "a", description: "x", priority: "high" }, /priority of task "a".*"high"/],
    [{ id: "a", description: "x", status: "ready" }, /"a" has an unknown status: "ready"/],
    [{ id: "a", description: "x", delegateTo: 3 }, /"a" is delegated to 3/],
  ];
  const graph = new TaskGraph();
  for (const [input, message] of refused) assert.throws(() => graph.addTask(input as TaskInput), message);
  assert.equal(graph.getProgress().total, 0);
});

test("a result is kept with its task", () => {
  const graph = graphOf({ a: [] });
  const result = { success: true, output: "done", duration: 12 };
  graph.markComplete("a", result);
  assert.deepEqual(graph.getTask("a")?.result, result);
  assert.throws(() => graphOf({ b: [] }).markComplete("b", { ...result, success: false }), /use markFailed/);
});

test("a failed task has its error, and all below it are skipped with the reason, and nothing else", () => {
  const graph = graphOf({ a: [], other: [], b: ["a"], c: ["b", "other"], d: ["other"] });
  graph.markFailed("a", new Error("no disk"));
  assert.equal(graph.getTask("a")?.status, "failed");
  assert.equal(graph.getTask("a")?.error, "no disk");
  for (const id of ["b", "c"]) {
    assert.equal(graph.getTask(id)?.status, "skipped");
    assert.equal(graph.getTask(id)?.reason, '"a" failed: no disk');
  }
  graph.markComplete("other");
  assert.deepEqual(ids(graph.getReady()), ["d"]);
});

test("a task added below a failed, skipped or cancelled one is skipped at once, with the root of it as reason", () => {
  const graph = graphOf({ a: [], b: ["a"], x: [] });
  graph.markFailed("a", "boom");
  graph.markCancelled("x", "not needed");
  assert.equal(graph.getTask("x")?.reason, "not needed");
  for (const below of ["a", "b"]) {
    const added = graph.addTask({ id: `under ${below}`, description: "", dependencies: [below] });
    assert.equal(added.status, "skipped");
    assert.equal(added.reason, '"a" failed: boom');
  }
  assert.equal(graph.addTask({ id: "y", description: "", dependencies: ["x"] }).reason, '"x" was cancelled');
  assert.deepEqual(graph.getReady(), []);
});

test("what waited for a task that arrives doomed is skipped with it", () => {
  const graph = graphOf({ a: [], c: ["b"], d: ["c"] });
  graph.markFailed("a", "boom");
  graph.addTask({ id: "b", description: "", dependencies: ["a"] });
  assert.equal(graph.getTask("d")?.status, "skipped");
  assert.equal(graph.getTask("d")?.reason, '"a" failed: boom');
  assert.equal(graph.getProgress().skipped, 3);
});

test("progress counts every status", () => {
  const graph = graphOf({ done: [], runs: [], bad: [], below: ["bad"], off: [], waits: ["runs"], free: [] });
  graph.markComplete("done");
  graph.markRunning("runs");
  graph.markFailed("bad", "x");
  graph.markCancelled("off");
  assert.deepEqual(graph.getProgress(), {
    total: 7,
    completed: 1,
    running: 1,
    pending: 2,
    failed: 1,
    skipped: 1,
    cancelled: 1,
  });
});

test("a running task that is given back is ready again", () => {
  const graph = graphOf({ a: [], b: [] });
  graph.markRunning("a");
  assert.deepEqual(ids(graph.getReady()), ["b"]);
  graph.markPending("a");
  assert.deepEqual(ids(graph.getReady()), ["a", "b"]);
});

test("the sort puts dependencies first and is otherwise stable", () => {
  const graph = graphOf({ report: ["test"], docs: [], test: ["build"], build: [] });
  assert.deepEqual(ids(graph.topologicalSort()), ["docs", "build", "test", "report"]);
});

test("a cycle is named by the sort", () => {
  const graph = graphOf({ a: ["b"], b: ["c"], c: ["a"] });
  assert.equal(graph.hasCycle(), true);
  assert.throws(
    () => graph.topologicalSort(),
    (error) => error instanceof CycleError && /a → b → c → a/.test(error.message),
  );
  assert.equal(graphOf({ a: ["b"], b: [] }).hasCycle(), false);
});

test("nothing done to a task or result that was handed out, or to the input, reaches the graph", () => {
  const input = { id: "a", description: "A", dependencies: ["b"], status: "pending" as const };
  const graph = new TaskGraph([input, { id: "b", description: "B" }]);
  input.dependencies.push("c");
  const seen = graph.getTask("b") as { status: string; description: string };
  seen.status = "complete";
  seen.description = "changed";
  graph.markComplete("b", { success: true, output: "fine", duration: 1 });
  assert.deepEqual(ids(graph.getReady()), ["a"]);
  assert.deepEqual(graph.getTask("a")?.dependencies, ["b"]);
  assert.equal(graph.getTask("b")?.description, "B");
  assert.throws(() => (graph.getTask("a")!.dependencies as string[]).push("x"), TypeError);
  assert.throws(() => Object.assign(graph.getTask("b")!.result!, { output: "changed" }), TypeError);
});

test("a saved graph is restored with its statuses, results and reasons", () => {
  const graph = graphOf({ a: [], b: ["a"], bad: [], below: ["bad"], off: [] });
  graph.markComplete("a", { success: true, output: "fine", duration: 3 });
  graph.markFailed("bad", "boom");
  graph.markCancelled("off", "not needed");
  const saved = JSON.parse(JSON.stringify(graph.getAllTasks()));
  const restored = new TaskGraph(saved);
  assert.deepEqual(restored.getAllTasks(), graph.getAllTasks());
  assert.deepEqual(restored.getProgress(), graph.getProgress());
  assert.deepEqual(ids(restored.getReady()), ["b"]);
  assert.throws(() => restored.markRunning("below"), /it is skipped/);
});

test("the order in which a saved graph lists its tasks does not matter", () => {
  const restored = new TaskGraph([
    { id: "c", description: "", dependencies: ["b"] },
    { id: "d", description: "", dependencies: ["bad"] },
    { id: "b", description: "", dependencies: ["a"], status: "complete" },
    { id: "bad", description: "", status: "failed", error: "boom" },
    { id: "a", description: "", status: "complete" },
  ]);
  assert.deepEqual(ids(restored.getReady()), ["c"]);
  assert.equal(restored.getTask("d")?.status, "skipped");
  assert.equal(restored.getTask("d")?.reason, '"bad" failed: boom');
});

test("a task that was saved while it ran stays so until it is marked", () => {
  const restored = new TaskGraph(
    [
      {
        id: "a",
        description: "",
        status: "running",
        result: { success: false, output: "old", duration: 1 },
        error: "old",
      },
      { id: "b", description: "", dependencies: ["a"] },
    ],
    { now: () => 7 },
  );
  assert.deepEqual(restored.getTask("a"), { id: "a", description: "", dependencies: [], status: "running" });
  assert.equal(restored.getProgress().running, 1);
  assert.deepEqual(restored.getReady(), []);
  restored.markPending("a");
  assert.deepEqual(ids(restored.getReady()), ["a"]);
  restored.markComplete("a");
  const complete = { id: "a", description: "", dependencies: [], status: "complete", completedAt: 7 };
  assert.deepEqual(restored.getTask("a"), complete);
  assert.deepEqual(ids(restored.getReady()), ["b"]);
});

test("events tell each change, after it was made", () => {
  const graph = new TaskGraph();
  const told: string[] = [];
  const note = ({ type, task }: { type: string; task: PlannedTask }) =>
    told.push(`${type} ${task.id} ${task.status}`);
  graph.on("task.ready", note);
  graph.on("task.started", note);
  graph.on("task.completed", note);
  graph.on("task.failed", note);
  graph.on("task.skipped", note);
  graph.on("task.cancelled", note);
  graph.on("task.interrupted", note);
  for (const [id, dependencies] of Object.entries({ a: [], b: ["a"], c: ["b"], x: [], y: ["x"] })) {
    graph.addTask({ id, description: "", dependencies });
  }
  graph.markRunning("a");
  graph.markPending("a");
  graph.markComplete("a");
  graph.markFailed("b", "boom");
  graph.markCancelled("x");
  graph.addTask({ id: "z", description: "", dependencies: ["y"] });
  assert.deepEqual(told, [
    "task.ready a pending",
    "task.ready x pending",
    "task.started a running",
    "task.interrupted a pending",
    "task.ready a pending",
    "task.completed a complete",
    "task.ready b pending",
    "task.failed b failed",
    "task.skipped c skipped",
    "task.cancelled x cancelled",
    "task.skipped y skipped",
    "task.skipped z skipped",
  ]);
});

test("a listener hears nothing after it was unsubscribed; the same function can listen twice", () => {
  const graph = graphOf({ a: [], b: [], c: [] });
  let heard = 0;
  const listener = () => {
    heard++;
  };
  const first = graph.on("task.completed", listener);
  const second = graph.on("task.completed", listener);
  graph.markComplete("a");
  assert.equal(heard, 2);
  first();
  first();
  graph.markComplete("b");
  assert.equal(heard, 3);
  second();
  graph.markComplete("c");
  assert.equal(heard, 3);
});

test("a listener that throws fails the task it was told of, nothing else, and no other listener misses it", () => {
  for (const type of ["task.ready", "task.started", "task.completed"] as const) {
    const graph = graphOf({ root: [], a: ["root"], b: ["a"], c: ["root"] });
    const heard: string[] = [];
    graph.on(type, ({ task }) => {
      if (task.id === "a") throw new Error("broken listener");
    });
    graph.on(type, ({ task }) => heard.push(task.id));
    graph.markComplete("root");
    for (const id of ["a", "c"]) {
      if (graph.getTask(id)?.status === "pending") graph.markRunning(id);
      if (graph.getTask(id)?.status === "running") graph.markComplete(id);
    }
    assert.equal(graph.getTask("a")?.status, "failed", type);
    assert.equal(graph.getTask("a")?.error, `a listener to ${type} threw: broken listener`);
    assert.equal(graph.getTask("b")?.status, "skipped");
    assert.equal(graph.getTask("c")?.status, "complete");
    assert.ok(heard.includes("a") && heard.includes("c"));
    assert.deepEqual(graph.getProgress(), {
      total: 4,
      completed: 2,
      running: 0,
      pending: 0,
      failed: 1,
      skipped: 1,
      cancelled: 0,
    });
  }
});

function graphOf(tasks: Readonly<Record<string, readonly string[]>>): TaskGraph {
  return new TaskGraph(
    Object.entries(tasks).map(([id, dependencies]) => ({ id, description: "", dependencies })),
  );
}

function ids(tasks: readonly PlannedTask[]): string[] {
  return tasks.map((task) => task.id);
}
