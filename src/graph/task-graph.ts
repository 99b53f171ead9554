/** A task graph for users of the library: which tasks can run now, what follows when one ends, and their execution. */

import { CycleError } from "./dag.ts";
import { type ExecuteOptions, Execution, obstacleIn, type TaskExecutor } from "./execution.ts";
import type { ExecutionSummary, GraphEventType, GraphListener, GraphProgress } from "./graph-events.ts";
import type { PlannedTask, TaskInput, TaskResult, TaskStatus } from "./planned-task.ts";
import { isSettled, messageOf, type TaskNode, TaskTable, taskOf } from "./task-table.ts";
import { orderOf } from "./topological-order.ts";

export interface TaskGraphOptions {
  /** The clock for the tasks' `startedAt` and `completedAt`; `Date.now` unless given. */
  readonly now?: () => number;
}

/**
 * A graph of tasks that is executed in dependency order.
 *
 * ```
 *  pending ─→ running ─→ complete        a pending task whose dependencies are complete may
 *     │ ↑        │ │                     complete without having been marked as running
 *     │ └────────┘ └───→ failed | cancelled
 *     ├────────────────→ failed | cancelled
 *     └─ a dependency failed, was skipped or was cancelled ─→ skipped
 * ```
 * The tasks it hands out are copies of what is so at that moment: what you hold does not change under you, and
 * no field you set on it reaches the graph. Only
 * objects within fields of your own are not copied: the graph and all who ask share them.
 *
 * ```ts
 * const graph = new TaskGraph([
 *   { id: "build", description: "Build the package" },
 *   { id: "test", description: "Run the tests", dependencies: ["build"] },
 * ]);
 * graph.on("task.failed", ({ task }) => console.error(task.id, task.error));
 * const summary = await graph.execute(async (task) => ({ success: true, output: `did ${task.id}` }));
 * ```
 */
export class TaskGraph {
  readonly #table: TaskTable;
  #execution: Execution | undefined;

  /**
   * Given statuses and times are kept, so that a saved graph (`JSON.stringify(graph.getAllTasks())`) can be restored.
   * A task that was saved as `running` was interrupted: it stays so until `execute` runs it again or you mark it.
   */
  constructor(tasks: Iterable<TaskInput> = [], { now = Date.now }: TaskGraphOptions = {}) {
    this.#table = new TaskTable(now);
    for (const task of tasks) this.#table.add(task);
  }

  /**
   * Adds a task; a running execution picks it up. Its dependencies may be added later. Below a failed, skipped or
   * cancelled task it is skipped at once.
   */
  addTask(task: TaskInput): PlannedTask {
    const added = this.#table.add(task);
    this.#execution?.wake();
    return taskOf(added);
  }

  getTask(id: string): PlannedTask | undefined {
    const task = this.#table.find(id);
    return task && taskOf(task);
  }

  getAllTasks(): PlannedTask[] {
    return this.#table.tasks();
  }

  /** The pending tasks whose dependencies are all complete, most urgent first, then in insertion order. */
  getReady(): PlannedTask[] {
    return [...this.#table.dag.ready()].filter(({ status }) => status === "pending").map(taskOf);
  }

  markRunning(id: string): void {
    const task = this.#table.get(id);
    if (task.status !== "pending") throw forbidden(task, "running");
    this.#refuseWaiting(task, "running");
    this.#table.start(task, undefined);
    this.#execution?.wake();
  }

  /** Without `result`, or without its `duration`, the task has none. */
  markComplete(id: string, result?: TaskResult): void {
    const task = this.#table.get(id);
    if (isSettled(task.status)) throw forbidden(task, "complete");
    if (result?.success === false) {
      throw new Error(`task "${id}" cannot become complete with a result that is no success; use markFailed`);
    }
    this.#refuseWaiting(task, "complete");
    this.#table.complete(task, result && Object.freeze({ ...result }));
    this.#execution?.wake();
  }

  /** Skips all direct and indirect dependents, with the error as reason. */
  markFailed(id: string, error: string | Error): void {
    const task = this.#table.get(id);
    if (isSettled(task.status)) throw forbidden(task, "failed");
    this.#table.fail(task, messageOf(error));
    this.#execution?.wake();
  }

  /**
   * Skips all dependents. If the task's executor is running, its signal is aborted; until it returns it takes one of
   * `maxParallel` places, and `execute` waits for it, for ever if it never returns.
   */
  markCancelled(id: string, reason = "cancelled"): void {
    const task = this.#table.get(id);
    if (isSettled(task.status)) throw forbidden(task, "cancelled");
    this.#table.cancel(task, reason);
    this.#execution?.wake();
  }

  /** Makes a running task pending, so that it can be started again. */
  markPending(id: string): void {
    const task = this.#table.get(id);
    if (task.status !== "running") throw forbidden(task, "pending");
    this.#table.interrupt(task);
    this.#execution?.wake();
  }

  hasCycle(): boolean {
    return orderOf(this.#table.dag).is === "cycle";
  }

  /** All tasks, dependencies first, otherwise in insertion order. Throws a `CycleError` that names the cycle. */
  topologicalSort(): PlannedTask[] {
    const order = orderOf(this.#table.dag);
    if (order.is === "cycle") throw new CycleError(order.nodes.map(({ id }) => id));
    return order.nodes.map(taskOf);
  }

  /** Takes the same time for a graph of any size. */
  getProgress(): GraphProgress {
    return this.#table.progress();
  }

  /**
   * Calls the listener synchronously for each event; returns a function that unsubscribes it. If the listener throws on
   * `task.ready`, `task.started` or `task.completed`, that task fails, and nothing else. An error that it throws on
   * other events, or that its promise is rejected with, goes into the summary of the execution.
   */
  on<T extends GraphEventType>(type: T, listener: GraphListener<T>): () => void {
    return this.#table.events.on(type, listener);
  }

  /**
   * Runs every task as soon as its last dependency is complete, most urgent first, `maxParallel` at a time. An executor
   * that throws, rejects or returns `{ success: false }` fails its task only. Rejects before anything starts if a
   * dependency is not in the graph, if there is a cycle, or if the graph is being executed already; otherwise it
   * resolves, whatever the results of the tasks are.
   *
   * After an abort nothing starts. Running executors have `abortGraceMs` from their abort signal to return: a success
   * counts; a task that did not succeed is pending again, and a later `execute` continues from there. Tasks that you
   * marked as running are neither executed nor waited for.
   *
   * ```ts
   * const { success, results } = await graph.execute(runAgent, { maxParallel: 4, signal });
   * ```
   */
  async execute(executor: TaskExecutor, options: ExecuteOptions = {}): Promise<ExecutionSummary> {
    if (this.#execution !== undefined)
      throw new Error("this graph is being executed already; await that first");
    if (typeof executor !== "function") throw new Error("execute needs an executor: a function of a task");
    const obstacle = obstacleIn(this.#table);
    if (obstacle !== undefined) throw obstacle;
    const execution = new Execution(this.#table, executor, options);
    this.#execution = execution;
    let summary: ExecutionSummary;
    try {
      summary = await execution.run();
    } finally {
      this.#execution = undefined;
    }
    this.#table.events.tell({ type: "execution.finished", summary });
    return summary;
  }

  #refuseWaiting(task: TaskNode, wanted: TaskStatus): void {
    if (task.state !== "waiting") return;
    const open = task.after.find((other) => this.#table.find(other)?.status !== "complete");
    throw new Error(`task "${task.id}" cannot become ${wanted}: it waits for "${open}"`);
  }
}

function forbidden(task: TaskNode, wanted: TaskStatus): Error {
  return new Error(`task "${task.id}" cannot become ${wanted}: it is ${task.status}`);
}
