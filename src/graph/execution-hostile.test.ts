/** Tests executions with errors, results, promises and listeners that misbehave. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExecutorResult } from "./execution.ts";
import type { ExecutionSummary } from "./graph-events.ts";
import { TaskGraph } from "./task-graph.ts";

const OK: ExecutorResult = { success: true, output: "ok" };

const unreadable = new (class extends Error {
  override get message(): string {
    throw new Error("no message for you");
  }
})();

for (const [name, thrown] of Object.entries({ "no prototype": Object.create(null), unreadable })) {
  for (const kind of ["thrown", "rejected"]) {
    test(`an error without a string form (${name}, ${kind}) fails its task only`, async () => {
      const graph = graphOf({ bad: [], good: [] });
      const summary = await graph.execute((task) => {
        if (task.id === "good") return OK;
        if (kind === "rejected") return Promise.reject(thrown);
        throw thrown;
      });
      assert.equal(graph.getTask("bad")?.error, "failed with an error that cannot be shown");
      assert.equal(graph.getTask("good")?.status, "complete");
      assert.deepEqual(statuses(summary), { completed: 1, failed: 1, running: 0 });
    });
  }
}

for (const field of ["success", "output", "duration", "error"]) {
  test(`a result whose ${field} cannot be read fails its task only, at once or later`, async () => {
    const bad = Object.defineProperty({ ...OK }, field, {
      get() {
        throw new Error("boom");
      },
    });
    for (const answer of [() => bad, async () => bad]) {
      const graph = graphOf({ bad: [], good: [] });
      const summary = await graph.execute((task) => (task.id === "bad" ? answer() : OK));
      assert.equal(graph.getTask("bad")?.error, "the result of the executor cannot be read: boom");
      assert.deepEqual(statuses(summary), { completed: 1, failed: 1, running: 0 });
    }
  });
}

test("a promise whose then throws, or calls back twice, settles its task once", async () => {
  const throwing = promiseWith(() => assert.fail("broken then"));
  const twice = promiseWith((resolve) => {
    resolve(OK);
    resolve(OK);
  });
  const graph = graphOf({ throwing: [], twice: [], good: [] });
  const summary = await graph.execute((task) => {
    if (task.id === "throwing") return throwing;
    return task.id === "twice" ? twice : OK;
  });
  assert.equal(graph.getTask("throwing")?.error, "broken then");
  assert.deepEqual(statuses(summary), { completed: 2, failed: 1, running: 0 });
});

test("a task that is cancelled while its result is read stays cancelled", async () => {
  const graph = graphOf({ a: [], b: ["a"] });
  const summary = await graph.execute(async () => ({
    get success() {
      graph.markCancelled("a");
      return true;
    },
  }));
  assert.equal(graph.getTask("a")?.status, "cancelled");
  assert.equal(graph.getTask("b")?.status, "skipped");
  assert.equal(summary.results.size, 0);
});

test("an error object becomes its text, and a duration that is none is measured", async () => {
  const answers: Record<string, unknown> = {
    error: { success: false, output: "log", error: new Error("exit 1") },
    nothing: { success: true, error: null },
    text: { success: true, duration: "12" },
    infinite: { success: true, duration: Infinity },
    negative: { success: true, duration: -1 },
    zero: { success: true, duration: 0 },
  };
  let clock = 0;
  const graph = graphOf(Object.fromEntries(Object.keys(answers).map((id) => [id, []])));
  const { results } = await graph.execute((task) => answers[task.id] as ExecutorResult, {
    now: () => clock++,
  });
  assert.deepEqual(results.get("error"), { success: false, output: "log", duration: 1, error: "exit 1" });
  for (const id of ["nothing", "text", "infinite", "negative"]) {
    assert.deepEqual(results.get(id), { success: true, output: "", duration: 1 }, id);
  }
  assert.equal(results.get("zero")?.duration, 0);
});

test("a listener that settles another running task when an abort ends has the last word on it", async () => {
  for (const mark of ["markCancelled", "markComplete", "markPending"] as const) {
    const abort = new AbortController();
    const graph = graphOf({ a: [], b: [], c: ["b"] });
    let told = 0;
    graph.on("task.interrupted", ({ task }) => {
      told++;
      if (task.id === "a") graph[mark]("b");
    });
    const summary = await graph.execute(
      (task) => {
        if (task.id === "b") abort.abort();
        return new Promise(() => {});
      },
      { signal: abort.signal, abortGraceMs: 0 },
    );
    const [b, c] = ["b", "c"].map((id) => graph.getTask(id)?.status);
    if (mark === "markCancelled") assert.deepEqual([b, c, told], ["cancelled", "skipped", 1]);
    if (mark === "markComplete") assert.deepEqual([b, c, told], ["complete", "pending", 1]);
    if (mark === "markPending") assert.deepEqual([b, c, told], ["pending", "pending", 2]);
    assert.deepEqual(summary.progress, graph.getProgress());
    assert.equal(graph.getReady().length, mark === "markCancelled" ? 1 : 2);
  }
});

test("a task that listeners fail when it is given back has no result in the summary", async () => {
  const fails = {
    "task.interrupted": (graph: TaskGraph) => graph.markFailed("a", "given up"),
    "task.ready": () => assert.fail("broken listener"),
  };
  for (const [type, fail] of Object.entries(fails)) {
    const abort = new AbortController();
    const graph = graphOf({ a: [] });
    graph.on(type as keyof typeof fails, () => fail(graph));
    const summary = await graph.execute(
      () => {
        abort.abort();
        return { success: false };
      },
      { signal: abort.signal },
    );
    assert.equal(graph.getTask("a")?.status, "failed", type);
    assert.deepEqual([...summary.results], [], type);
  }
});

test("a cycle among settled tasks is in nobody's way; one among open tasks is named", async () => {
  const graph = graphOf({ x: ["y"], y: ["x"] });
  graph.markCancelled("x");
  graph.addTask({ id: "new", description: "" });
  assert.deepEqual([...(await graph.execute(() => OK)).results.keys()], ["new"]);
  assert.equal(graph.hasCycle(), true);

  const half = new TaskGraph([
    { id: "done", description: "", dependencies: ["open"], status: "complete" },
    { id: "open", description: "", dependencies: ["done", "other"] },
  ]);
  half.addTask({ id: "other", description: "" });
  assert.deepEqual([...(await half.execute(() => OK)).results.keys()], ["other", "open"]);

  const stuck = new TaskGraph([
    { id: "done", description: "", dependencies: ["p"], status: "complete" },
    { id: "p", description: "", dependencies: ["done", "q"] },
    { id: "q", description: "", dependencies: ["p"] },
  ]);
  await assert.rejects(
    stuck.execute(() => OK),
    /form a cycle: p → q → p/,
  );
});

function promiseWith(then: (resolve: (result: ExecutorResult) => void) => void): Promise<ExecutorResult> {
  // biome-ignore lint/suspicious/noThenProperty: promises with a broken one are what is tested here.
  return Object.defineProperty(Promise.resolve(OK), "then", { value: then });
}

function statuses({ progress }: ExecutionSummary) {
  const { completed, failed, running } = progress;
  return { completed, failed, running };
}

function graphOf(tasks: Readonly<Record<string, readonly string[]>>): TaskGraph {
  return new TaskGraph(
    Object.entries(tasks).map(([id, dependencies]) => ({ id, description: "", dependencies })),
  );
}
