/** Tests when an execution starts tasks, how an abort ends it, and how many executors run at once. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import type { ExecutorResult, TaskContext, TaskExecutor } from "./execution.ts";
import type { PlannedTask } from "./planned-task.ts";
import { TaskGraph } from "./task-graph.ts";

const OK: ExecutorResult = { success: true, output: "ok" };

test("a task starts the moment its last dependency completes, whatever else is still running", async () => {
  const world = new World({ slow: [], a: [], b: ["a"], c: ["b"] });
  const running = world.execute();
  for (const id of ["a", "b", "c"]) await world.answer(id, OK);
  assert.deepEqual(world.atWork(), ["slow"]);
  await world.answer("slow", OK);
  assert.equal((await running).success, true);
});

test("no more than maxParallel executors are at work, and the most urgent start first", async () => {
  const world = new World({ e: [], a: [], b: [], c: [] }, { e: 9, c: 1 });
  const running = world.execute({ maxParallel: 2 });
  assert.deepEqual(world.started, ["c", "a"]);
  await world.answer("a", OK);
  assert.deepEqual(world.atWork(), ["c", "b"]);
  await world.answer("c", OK);
  assert.deepEqual(world.started, ["c", "a", "b", "e"]);
  await world.answer("b", OK);
  await world.answer("e", OK);
  assert.equal((await running).success, true);
});

test("a graph is executed once at a time", async () => {
  const world = new World({ a: [] });
  const running = world.execute();
  await assert.rejects(world.graph.execute(never), /being executed already/);
  await world.answer("a", OK);
  await running;
  assert.equal((await world.graph.execute(never)).success, true);
});

test("tasks may be added while the graph is executed, by an executor, a listener or from outside", async () => {
  const world = new World({ a: [], long: [] });
  world.graph.on("task.completed", ({ task }) => {
    if (task.id === "a") world.graph.addTask({ id: "by listener", description: "", dependencies: ["a"] });
  });
  const running = world.execute();
  await world.answer("a", OK);
  world.graph.addTask({ id: "from outside", description: "" });
  assert.deepEqual(world.atWork(), ["long", "by listener", "from outside"]);
  for (const id of world.atWork()) await world.answer(id, OK);
  assert.equal((await running).progress.completed, 4);

  const graph = graphOf({ a: [] });
  const summary = await graph.execute((task) => {
    if (task.id === "a") graph.addTask({ id: "by executor", description: "", dependencies: ["a"] });
    return OK;
  });
  assert.equal(summary.progress.completed, 2);
});

test("a task added below a failed one during the execution is skipped", async () => {
  const world = new World({ bad: [], long: [] });
  const running = world.execute();
  await world.answer("bad", { success: false, output: "", error: "boom" });
  assert.equal(world.graph.addTask({ id: "late", description: "", dependencies: ["bad"] }).status, "skipped");
  await world.answer("long", OK);
  assert.equal((await running).progress.skipped, 1);
  assert.ok(!world.started.includes("late"));
});

test("abort starts nothing more, waits for what runs, and reports it", async () => {
  const abort = new AbortController();
  const world = new World({ a: [], b: [], c: ["a"], d: [] });
  const running = world.execute({ maxParallel: 2, signal: abort.signal });
  abort.abort(new Error("enough"));
  for (const id of ["a", "b"]) assert.match(String(world.signalOf(id).reason), /enough/);
  await world.answer("a", OK);
  await world.answer("b", new Error("stopped"));
  const summary = await running;
  assert.equal(summary.aborted, true);
  assert.equal(summary.success, false);
  assert.deepEqual(summary.runningAtAbort, ["a", "b"]);
  assert.deepEqual(summary.unfinished, ["b", "c", "d"]);
  assert.deepEqual([...summary.results.keys()], ["a"]);
  assert.deepEqual(world.started, ["a", "b"]);
  assert.equal(world.graph.getTask("b")?.status, "pending");
});

test("abort waits no longer than its grace for an executor that does not listen, and drops its late answer", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const abortGraceMs of [0, 30]) {
    const abort = new AbortController();
    const world = new World({ deaf: [] });
    const interrupted: string[] = [];
    world.graph.on("task.interrupted", ({ task }) => interrupted.push(task.id));
    let finished = 0;
    world.graph.on("execution.finished", () => {
      finished++;
    });
    const running = world.execute({ signal: abort.signal, abortGraceMs });
    abort.abort();
    if (abortGraceMs > 0) t.mock.timers.tick(abortGraceMs);
    const summary = await running;
    assert.deepEqual(summary.runningAtAbort, ["deaf"]);
    assert.deepEqual(interrupted, ["deaf"]);
    await world.answer("deaf", OK);
    assert.equal(world.graph.getTask("deaf")?.status, "pending");
    assert.equal(finished, 1);
  }
});

test("the grace of an execution that ended in time does not end a later one", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const abort = new AbortController();
  const world = new World({ a: [], b: [] });
  const first = world.execute({ maxParallel: 1, signal: abort.signal, abortGraceMs: 30 });
  abort.abort();
  await world.answer("a", OK);
  await first;
  let finished = 0;
  world.graph.on("execution.finished", () => {
    finished++;
  });
  const second = world.execute();
  t.mock.timers.tick(30);
  assert.equal(finished, 0);
  await assert.rejects(world.graph.execute(never), /being executed already/);
  await world.answer("b", OK);
  assert.equal((await second).success, true);
});

test("a running task that is cancelled hears its signal, and its late answer is dropped", async () => {
  const world = new World({ a: [], b: ["a"], c: [] });
  const running = world.execute({ maxParallel: 1 });
  const signal = world.signalOf("a");
  world.graph.markCancelled("a", "not needed");
  assert.equal(signal.aborted, true);
  assert.deepEqual(world.atWork(), ["a"], "its slot is taken until it returns");
  await world.answer("a", OK);
  await world.answer("c", OK);
  const summary = await running;
  assert.equal(world.graph.getTask("a")?.status, "cancelled");
  assert.equal(world.graph.getTask("b")?.status, "skipped");
  assert.deepEqual([...summary.results.keys()], ["c"]);
});

test("after an abort, a later execute goes on from there", async () => {
  const abort = new AbortController();
  const graph = graphOf({ a: [], b: ["a"], c: ["b"] });
  const first = await graph.execute(
    (task) => {
      if (task.id === "b") abort.abort();
      return task.id === "b" ? { success: false, output: "" } : OK;
    },
    { signal: abort.signal },
  );
  assert.deepEqual(first.runningAtAbort, ["b"]);
  const second = await graph.execute(() => OK);
  assert.deepEqual([...second.results.keys()], ["b", "c"]);
  assert.equal(second.success, true);
});

test("a signal that was aborted before starts nothing", async () => {
  const graph = graphOf({ a: [] });
  const summary = await graph.execute(never, { signal: AbortSignal.abort() });
  assert.equal(summary.aborted, true);
  assert.deepEqual(summary.unfinished, ["a"]);
});

test("a signal that is never aborted is left without a listener", async () => {
  const { signal } = new AbortController();
  await graphOf({ a: [] }).execute(() => OK, { signal });
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("an abort from a listener to a start comes in time", async () => {
  const abort = new AbortController();
  const graph = graphOf({ a: [], b: [] });
  graph.on("task.started", () => abort.abort());
  let executed = 0;
  const summary = await graph.execute(
    () => {
      executed++;
      return OK;
    },
    { signal: abort.signal },
  );
  assert.equal(executed, 0);
  assert.deepEqual(summary.runningAtAbort, ["a"]);
  assert.deepEqual(summary.unfinished, ["a", "b"]);
});

/** A graph whose executors answer when the test tells them to. */
class World {
  readonly graph: TaskGraph;
  readonly started: string[] = [];
  readonly #work = new Map<string, { resolve(result: ExecutorResult): void; reject(error: Error): void }>();
  readonly #contexts = new Map<string, TaskContext>();

  constructor(
    tasks: Readonly<Record<string, readonly string[]>>,
    priorities: Readonly<Record<string, number>> = {},
  ) {
    this.graph = new TaskGraph();
    for (const [id, dependencies] of Object.entries(tasks)) {
      const priority = priorities[id];
      this.graph.addTask({ id, description: "", dependencies, ...(priority !== undefined && { priority }) });
    }
  }

  execute(options: Parameters<TaskGraph["execute"]>[1] = {}): ReturnType<TaskGraph["execute"]> {
    return this.graph.execute((task: PlannedTask, context: TaskContext) => {
      this.started.push(task.id);
      this.#contexts.set(task.id, context);
      return new Promise((resolve, reject) => this.#work.set(task.id, { resolve, reject }));
    }, options);
  }

  atWork(): string[] {
    return [...this.#work.keys()];
  }

  signalOf(id: string): AbortSignal {
    return this.#contexts.get(id)!.signal;
  }

  /** Lets an executor answer, and waits until the graph has the answer. */
  async answer(id: string, answer: ExecutorResult | Error): Promise<void> {
    const work = this.#work.get(id);
    assert.ok(work, `"${id}" is not at work`);
    this.#work.delete(id);
    if (answer instanceof Error) work.reject(answer);
    else work.resolve(answer);
    await Promise.resolve();
  }
}

const never: TaskExecutor = (task) => assert.fail(`"${task.id}" was executed`);

function graphOf(tasks: Readonly<Record<string, readonly string[]>>): TaskGraph {
  return new TaskGraph(
    Object.entries(tasks).map(([id, dependencies]) => ({ id, description: "", dependencies })),
  );
}
