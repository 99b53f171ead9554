/** Tasks with dependencies: what can run now, what follows when one ends, and how is the whole executed? */

import { type ExecuteOptions, Execution, obstacleIn, type TaskExecutor } from "./execution.ts";
import type { ExecutionSummary, GraphEventType, GraphListener, GraphProgress } from "./graph-events.ts";
import type { PlannedTask, TaskInput, TaskResult, TaskStatus } from "./planned-task.ts";
import { isSettled, messageOf, type TaskEntry, TaskTable, taskOf } from "./task-table.ts";

export interface TaskGraphOptions {
  /** What `startedAt` and `completedAt` of tasks are told by; `Date.now` unless given. */
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
   * Adds a task, also during an execution, which picks it up. Its dependencies may be added later. Below a
   * failed, skipped or cancelled task it is skipped at once.
   */
  addTask(task: TaskInput): PlannedTask {
    const entry = this.#table.add(task);
    this.#execution?.wake();
    return taskOf(entry);
  }

  getTask(id: string): PlannedTask | undefined {
    const entry = this.#table.find(id);
    return entry && taskOf(entry);
  }

  getAllTasks(): PlannedTask[] {
    return this.#table.tasks();
  }

  /** The pending tasks whose dependencies are all complete, most urgent first, then in insertion order. */
  getReady(): PlannedTask[] {
    const ready = Array.from(this.#table.dag.ready(), (id) => this.#table.entry(id));
    return ready.filter(({ status }) => status === "pending").map(taskOf);
  }

  markRunning(id: string): void {
    const entry = this.#table.entry(id);
    if (entry.status !== "pending") throw forbidden(entry, "running");
    this.#refuseWaiting(entry, "running");
    this.#table.start(entry, undefined);
    this.#execution?.wake();
  }

  /** Without `result`, or without its `duration`, nothing is known of that. */
  markComplete(id: string, result?: TaskResult): void {
    const entry = this.#table.entry(id);
    if (isSettled(entry.status)) throw forbidden(entry, "complete");
    if (result?.success === false) {
      throw new Error(`task "${id}" cannot become complete with a result that is no success; use markFailed`);
    }
    this.#refuseWaiting(entry, "complete");
    this.#table.complete(entry, result && Object.freeze({ ...result }));
    this.#execution?.wake();
  }

  /** Everything that depends on it, directly or not, is skipped, with the reason. */
  markFailed(id: string, error: string | Error): void {
    const entry = this.#table.entry(id);
    if (isSettled(entry.status)) throw forbidden(entry, "failed");
    this.#table.fail(entry, messageOf(error));
    this.#execution?.wake();
  }

  /**
   * Everything that depends on it is skipped. If its executor is at work, its signal is aborted; until that
   * returns it takes one of `maxParallel` places, and `execute` waits for it, for ever if it never returns.
   */
  markCancelled(id: string, reason = "cancelled"): void {
    const entry = this.#table.entry(id);
    if (isSettled(entry.status)) throw forbidden(entry, "cancelled");
    this.#table.cancel(entry, reason);
    this.#execution?.wake();
  }

  /** Gives a running task back, to be started again. */
  markPending(id: string): void {
    const entry = this.#table.entry(id);
    if (entry.status !== "running") throw forbidden(entry, "pending");
    this.#table.interrupt(entry);
    this.#execution?.wake();
  }

  hasCycle(): boolean {
    return this.#table.dag.cycle() !== undefined;
  }

  /**
   * All tasks, dependencies first; of those that could come next, the one added first.
   * Throws a `CycleError` that names the cycle.
   */
  topologicalSort(): PlannedTask[] {
    return this.#table.dag.order().map((id) => taskOf(this.#table.entry(id)));
  }

  /** Costs the same for a graph of any size. */
  getProgress(): GraphProgress {
    return this.#table.progress();
  }

  /**
   * Calls the listener at once, whenever that happens; returns what unsubscribes it. If it throws on
   * `task.ready`, `task.started` or `task.completed`, that task fails, and nothing else; what it throws on
   * other events, or when the promise it returned is rejected, is kept for the summary of the execution.
   */
  on<T extends GraphEventType>(type: T, listener: GraphListener<T>): () => void {
    return this.#table.events.on(type, listener);
  }

  /**
   * Runs every task the moment its last dependency is complete, most urgent first, `maxParallel` at a time.
   * An executor that throws, rejects or returns `{ success: false }` fails its task only. Rejects before
   * anything starts if a dependency is not in the graph, if there is a cycle, or if the graph is being
   * executed already; otherwise it resolves, whatever became of the tasks.
   *
   * After an abort nothing starts. Executors at work have their signal and `abortGraceMs` to return: a success
   * counts; a task that did not get there is pending again, and a later `execute` goes on from there.
   * Tasks that you marked as running yourself are yours: they are not run, nor waited for.
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

  #refuseWaiting(entry: TaskEntry, wanted: TaskStatus): void {
    const { id } = entry;
    if (!this.#table.isWaiting(entry)) return;
    const open = entry.dependencies.find((other) => this.#table.find(other)?.status !== "complete");
    throw new Error(`task "${id}" cannot become ${wanted}: it waits for "${open}"`);
  }
}

function forbidden(entry: TaskEntry, wanted: TaskStatus): Error {
  return new Error(`task "${entry.id}" cannot become ${wanted}: it is ${entry.status}`);
}
