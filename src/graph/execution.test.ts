/** Tests the execution of a task graph: results, failures, refused input, listeners and restored graphs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { CycleError } from "./dag.ts";
import type { ExecutorResult, TaskExecutor } from "./execution.ts";
import type { TaskInput } from "./planned-task.ts";
import { TaskGraph } from "./task-graph.ts";

const OK: ExecutorResult = { success: true, output: "ok" };

test("every task is executed once, after its dependencies, and its result is reported", async () => {
  const graph = graphOf({ d: ["b", "c"], b: ["a"], c: ["a"], a: [] });
  const order: string[] = [];
  const summary = await graph.execute(async (task) => {
    order.push(task.id);
    assert.equal(task.status, "running");
    return { success: true, output: `did ${task.id}`, duration: 7 };
  });
  assert.deepEqual(order, ["a", "b", "c", "d"]);
  assert.equal(summary.success, true);
  assert.equal(summary.aborted, false);
  assert.deepEqual(summary.unfinished, []);
  assert.deepEqual([...summary.results.keys()], ["a", "b", "c", "d"]);
  assert.deepEqual(summary.results.get("d"), { success: true, output: "did d", duration: 7 });
  assert.deepEqual(graph.getTask("d")?.result, summary.results.get("d"));
  assert.deepEqual(summary.progress, graph.getProgress());
});

test("eight executors are at work unless told otherwise", async () => {
  const graph = new TaskGraph(Array.from({ length: 20 }, (_, at) => ({ id: `t${at}`, description: "" })));
  let active = 0;
  let most = 0;
  await graph.execute(async () => {
    most = Math.max(most, ++active);
    await Promise.resolve();
    active--;
    return OK;
  });
  assert.equal(most, 8);
});

test("an executor that throws, rejects, reports failure or returns nonsense fails only its task", async () => {
  const graph = graphOf({
    throws: [],
    rejects: [],
    reports: [],
    silent: [],
    nonsense: [],
    below: ["throws"],
    fine: [],
  });
  const answers: Record<string, () => unknown> = {
    throws: () => {
      throw new Error("thrown");
    },
    rejects: () => Promise.reject(new Error("rejected")),
    reports: async () => ({ success: false, output: "half", error: "reported" }),
    silent: () => ({ success: false, output: "" }),
    nonsense: () => 5,
    fine: async () => OK,
  };
  const summary = await graph.execute(((task) => answers[task.id]!()) as TaskExecutor);
  const errorOf = (id: string) => graph.getTask(id)?.error;
  assert.equal(errorOf("throws"), "thrown");
  assert.equal(errorOf("rejects"), "rejected");
  assert.equal(errorOf("reports"), "reported");
  assert.match(errorOf("silent") ?? "", /gave no reason/);
  assert.match(errorOf("nonsense") ?? "", /returned no result/);
  assert.equal(summary.results.get("reports")?.output, "half");
  assert.equal(summary.results.get("rejects")?.error, "rejected");
  assert.equal(graph.getTask("below")?.status, "skipped");
  assert.equal(graph.getTask("fine")?.status, "complete");
  assert.equal(summary.success, false);
  assert.deepEqual(summary.progress, {
    total: 7,
    completed: 1,
    running: 0,
    pending: 0,
    failed: 5,
    skipped: 1,
    cancelled: 0,
  });
});

test("an executor may answer without a promise, or with a promise of its own kind", async () => {
  const graph = graphOf({ a: [], b: ["a"] });
  const foreign: Promise<ExecutorResult> = runInNewContext("Promise.resolve({ success: true, output: '' })");
  assert.equal(foreign instanceof Promise, false);
  const summary = await graph.execute((task) => (task.id === "a" ? OK : foreign));
  assert.equal(summary.success, true);
});

test("a missing duration is measured", async () => {
  const graph = graphOf({ a: [] });
  let time = 100;
  const summary = await graph.execute(
    () => {
      time += 250;
      return { success: true };
    },
    { now: () => time },
  );
  assert.deepEqual(summary.results.get("a"), { success: true, output: "", duration: 250 });
  assert.equal(summary.durationMs, 250);
});

test("a dependency that is not in the graph is named before anything starts", async () => {
  const graph = graphOf({ a: [], b: ["x"] });
  await assert.rejects(graph.execute(never), /"x" \(needed by "b"\)/);
  assert.equal(graph.getTask("a")?.status, "pending");
  graph.addTask({ id: "x", description: "" });
  assert.equal((await graph.execute(() => OK)).success, true);
});

test("a dependency that only settled tasks name is not missed", async () => {
  const graph = new TaskGraph([{ id: "a", description: "", dependencies: ["gone"], status: "complete" }]);
  assert.equal((await graph.execute(never)).success, true);
});

test("a cycle is named before anything starts", async () => {
  const graph = graphOf({ a: [], b: ["c"], c: ["b"] });
  await assert.rejects(
    graph.execute(never),
    (error) => error instanceof CycleError && /b → c → b/.test(error.message),
  );
});

test("bad options are refused, and leave the graph free", async () => {
  const graph = graphOf({ a: [] });
  for (const maxParallel of [0, -1, 1.5, Number.NaN, "2" as unknown as number]) {
    await assert.rejects(graph.execute(never, { maxParallel }), /maxParallel/);
  }
  for (const abortGraceMs of [-1, Number.NaN])
    await assert.rejects(graph.execute(never, { abortGraceMs }), /abortGraceMs/);
  await assert.rejects(graph.execute(undefined as unknown as TaskExecutor), /needs an executor/);
  assert.equal((await graph.execute(() => OK, { maxParallel: Infinity })).success, true);
});

test("an empty graph is done at once", async () => {
  assert.equal((await new TaskGraph().execute(never)).success, true);
});

test("a task that a listener adds below the last one to complete is still executed", async () => {
  const graph = graphOf({ a: [] });
  graph.on("task.completed", ({ task }) => {
    if (task.id === "a") graph.addTask({ id: "b", description: "", dependencies: ["a"] });
  });
  assert.deepEqual([...(await graph.execute(async () => OK)).results.keys()], ["a", "b"]);
});

test("a task is not executed while listeners are told that it was marked as complete", async () => {
  const graph = graphOf({ a: [], b: ["a"] });
  const executions: ReturnType<TaskGraph["execute"]>[] = [];
  graph.on("task.completed", () => executions.push(graph.execute(never)));
  graph.markComplete("a");
  const summary = await executions[0]!;
  assert.match(summary.blocked ?? "", /"b" waits for a change/);
  assert.deepEqual(graph.getReady()[0]?.id, "b");
});

test("executors that each add the next task do not pile up", async () => {
  const graph = graphOf({ "0": [] });
  const summary = await graph.execute((task) => {
    const next = Number(task.id) + 1;
    if (next < 20_000) graph.addTask({ id: String(next), description: "" });
    return OK;
  });
  assert.equal(summary.progress.completed, 20_000);
});

test("what was added during the execution and can never start is reported, not waited for", async () => {
  const graph = graphOf({ a: [] });
  const summary = await graph.execute((task) => {
    if (task.id === "a") graph.addTask({ id: "b", description: "", dependencies: ["nowhere"] });
    return OK;
  });
  assert.equal(summary.success, false);
  assert.deepEqual(summary.unfinished, ["b"]);
  assert.match(summary.blocked ?? "", /"nowhere" \(needed by "b"\)/);
});

test("a restored task that was running is run again; one that someone marked as running is theirs", async () => {
  const restored = new TaskGraph([
    { id: "a", description: "", status: "running" },
    { id: "b", description: "", dependencies: ["a"] },
  ]);
  const summary = await restored.execute(() => OK);
  assert.deepEqual([...summary.results.keys()], ["a", "b"]);
  assert.deepEqual(summary.progress, {
    total: 2,
    completed: 2,
    running: 0,
    pending: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  });

  const graph = graphOf({ a: [], b: ["a"], c: [] });
  graph.markRunning("a");
  const second = await graph.execute(() => OK);
  assert.deepEqual([...second.results.keys()], ["c"]);
  assert.deepEqual(second.unfinished, ["a", "b"]);
  assert.match(second.blocked ?? "", /"a" was marked as running by someone else/);
});

test("complete tasks of a restored graph are not executed again", async () => {
  const graph = new TaskGraph([
    { id: "a", description: "", status: "complete" },
    { id: "b", description: "", dependencies: ["a"] },
  ]);
  assert.deepEqual([...(await graph.execute(() => OK)).results.keys()], ["b"]);
});

test("a listener that throws fails its task only, and the summary says so", async () => {
  for (const type of ["task.ready", "task.started", "task.completed"] as const) {
    const graph = graphOf({ a: [], b: ["a"], c: ["b"], d: ["a"] });
    graph.on(type, ({ task }) => {
      if (task.id === "b") throw new Error("broken");
    });
    const summary = await graph.execute(async () => OK);
    assert.equal(graph.getTask("b")?.status, "failed", type);
    assert.equal(graph.getTask("c")?.status, "skipped", type);
    assert.equal(graph.getTask("d")?.status, "complete", type);
    assert.deepEqual(
      summary.listenerErrors.map(({ type, taskId }) => [type, taskId]),
      [[type, "b"]],
    );
  }
});

test("a listener that throws on what is over already, or rejects, changes nothing and is reported", async () => {
  const graph = graphOf({ a: [], b: ["a"], c: [] });
  graph.on("task.failed", () => {
    throw new Error("one");
  });
  graph.on("task.skipped", async () => {
    throw new Error("two");
  });
  graph.on("execution.finished", () => {
    throw new Error("three");
  });
  const summary = await graph.execute(async (task) => {
    // Long enough for the graph to learn of the rejected listener before the end.
    if (task.id === "c") for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    return { success: task.id !== "a", output: "" };
  });
  assert.deepEqual(
    summary.listenerErrors.map(({ error }) => (error as Error).message),
    ["one", "two"],
  );
  assert.deepEqual(summary.progress, {
    total: 3,
    completed: 1,
    running: 0,
    pending: 0,
    failed: 1,
    skipped: 1,
    cancelled: 0,
  });
});

test("the end of the execution is told with its summary, and the graph is free by then", async () => {
  const graph = graphOf({ a: [] });
  const told: unknown[] = [];
  graph.on("execution.finished", ({ summary }) => {
    told.push(summary);
    graph.addTask({ id: "more", description: "" });
  });
  assert.deepEqual(told, [await graph.execute(() => OK)].slice(0, told.length));
  assert.equal(told.length, 1);
  assert.equal(graph.getTask("more")?.status, "pending");
});

test("any graph ends with every task settled as its dependencies say, in order and within maxParallel", async () => {
  const shape = fc.record({
    after: fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 25 }),
    bad: fc.array(fc.nat({ max: 24 }), { maxLength: 3 }),
    maxParallel: fc.integer({ min: 1, max: 5 }),
    isReversed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(shape, async ({ after, bad, maxParallel, isReversed }) => {
      const tasks: TaskInput[] = after.map((from, at) => ({
        id: `t${at}`,
        description: "",
        dependencies: at === 0 ? [] : from.map((other) => `t${other % at}`),
      }));
      const graph = new TaskGraph(isReversed ? tasks.toReversed() : tasks);
      let active = 0;
      await graph.execute(
        async (task) => {
          assert.ok(++active <= maxParallel);
          for (const id of task.dependencies) assert.equal(graph.getTask(id)?.status, "complete");
          await Promise.resolve();
          active--;
          return { success: !bad.includes(Number(task.id.slice(1))), output: "" };
        },
        { maxParallel },
      );
      for (const task of graph.getAllTasks()) {
        const isHeld = task.dependencies.some((id) => graph.getTask(id)?.status !== "complete");
        const isBad = bad.includes(Number(task.id.slice(1)));
        assert.equal(task.status, isHeld ? "skipped" : isBad ? "failed" : "complete", task.id);
      }
    }),
    { numRuns: 200 },
  );
});

test("a chain of 200,000 is executed without a promise, and fails at its head, without overflow", async () => {
  const chain = () =>
    new TaskGraph(
      Array.from({ length: 200_000 }, (_, at) => ({
        id: String(at),
        description: "",
        dependencies: at === 0 ? [] : [String(at - 1)],
      })),
    );
  assert.equal((await chain().execute(() => OK)).success, true);
  const failed = await chain().execute(async () => ({ success: false, output: "", error: "boom" }));
  assert.equal(failed.progress.skipped, 199_999);
});

const never: TaskExecutor = (task) => assert.fail(`"${task.id}" was executed`);

function graphOf(tasks: Readonly<Record<string, readonly string[]>>): TaskGraph {
  return new TaskGraph(
    Object.entries(tasks).map(([id, dependencies]) => ({ id, description: "", dependencies })),
  );
}
