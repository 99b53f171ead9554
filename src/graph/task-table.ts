/** What does each change of a task's status bring about, for its dependents and for the listeners? */
import { Dag } from "./dag.ts";
import type { GraphProgress } from "./execution-summary.ts";
import { GraphEvents } from "./graph-events.ts";
import { DEAD, DONE, READY, TAKEN, WAITING } from "./numbered-dag.ts";
import {
  checkTask,
  type PlannedTask,
  type TaskInput,
  type TaskResult,
  type TaskStatus,
} from "./planned-task.ts";
import { entryFor, isSettled, type TaskEntry, type TaskRun, taskOf } from "./task-entry.ts";
import type { ListenerError, TaskEvent } from "./task-event.ts";
import { TaskTimes } from "./task-times.ts";

/**
 * The tasks of a graph and their DAG, kept in step. Every change is made in full before a listener hears of
 * it, except that nothing starts below a task until the listeners to its completion have returned: one that
 * throws fails the task.
 */
export class TaskTable {
  readonly events = new GraphEvents();
  readonly dag = new Dag();
  readonly #numbered = this.dag.numbered;
  readonly #times: TaskTimes;
  /** By node; a node that was only named as a dependency has none. */
  readonly #entries: (TaskEntry | undefined)[] = [];
  readonly #counts: Record<TaskStatus, number> = {
    pending: 0,
    running: 0,
    complete: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  };

  constructor(now: () => number) {
    this.#times = new TaskTimes(now);
  }

  add(input: TaskInput): TaskEntry {
    checkTask(input);
    const node = this.#name(input.id);
    if (this.#entries[node] !== undefined) throw new Error(`task "${input.id}" is in the graph already`);
    const entry = entryFor(node, input);
    this.#entries[node] = entry;
    this.#restoreTimes(entry, input);
    count(this.#counts, entry.status, 1);
    this.#numbered.open(node, input.priority);
    for (const id of entry.dependencies) this.#numbered.dependOn(node, this.#name(id));
    this.#entered(entry, this.#numbered.enter(node, SETTLED_AS[entry.status]));
    return entry;
  }

  /** As with its result: of a task that will start, or end, anew, the earlier time is not kept. */
  #restoreTimes({ node, status }: TaskEntry, { startedAt, completedAt }: TaskInput): void {
    if (status === "pending" || (startedAt === undefined && completedAt === undefined)) return;
    this.#times.restore(node, startedAt, status === "running" ? undefined : completedAt);
  }

  /** What follows from a task's first status, for itself and for those that were waiting for it. */
  #entered(entry: TaskEntry, changed: readonly number[]): void {
    const status = this.#numbered.status(entry.node);
    if (status === READY) this.#tellReady(entry.node);
    else if (status === DONE) this.#tellAllReady(changed);
    if (status !== DEAD) return;
    const isDoomed = !isSettled(entry.status);
    if (isDoomed) this.#change(entry, "skipped", this.#whyDoomed(entry));
    for (const node of changed) this.#change(this.#entries[node]!, "skipped", reasonFor(entry));
    if (isDoomed) this.#tell("task.skipped", entry);
    this.#tellSkipped(changed);
  }

  entry(id: string): TaskEntry {
    const entry = this.find(id);
    if (entry === undefined) throw new Error(`there is no task "${id}" in the graph`);
    return entry;
  }

  find(id: string): TaskEntry | undefined {
    const node = this.dag.find(id);
    return node === undefined ? undefined : this.#entries[node];
  }

  /** In insertion order. */
  tasks(): PlannedTask[] {
    return this.tasksOf(this.#numbered.inserted());
  }

  taskOf(entry: TaskEntry): PlannedTask {
    return taskOf(entry, this.#times);
  }

  tasksOf(nodes: Iterable<number>): PlannedTask[] {
    const tasks: PlannedTask[] = [];
    for (const node of nodes) tasks.push(this.taskOf(this.#entries[node]!));
    return tasks;
  }

  /** The executors at work. Looks at every task. */
  runs(): TaskRun[] {
    return this.#entries.flatMap((entry) => entry?.run ?? []);
  }

  /** The most urgent task that can start. */
  next(): TaskEntry | undefined {
    const node = this.#numbered.queue()?.peek();
    return node === undefined ? undefined : this.#entries[node];
  }

  isWaiting(entry: TaskEntry): boolean {
    return this.#numbered.status(entry.node) === WAITING;
  }

  progress(): GraphProgress {
    const { complete: completed, ...counts } = this.#counts;
    return { total: this.dag.size, completed, ...counts };
  }

  /** False if a listener settled it. */
  start(entry: TaskEntry, run: TaskRun | undefined): boolean {
    this.#numbered.take(entry.node);
    this.#change(entry, "running");
    this.#times.start(entry.node);
    entry.run = run;
    const thrown = this.#tell("task.started", entry);
    if (thrown !== undefined && isRunning(entry, run)) {
      this.fail(entry, listenerFailed("task.started", thrown.error));
    }
    return isRunning(entry, run);
  }

  complete(entry: TaskEntry, result?: TaskResult): void {
    // A ready task may complete without having run; nobody may start it while its listeners are told.
    if (this.#numbered.status(entry.node) === READY) this.#numbered.take(entry.node);
    this.#change(entry, "complete");
    this.#times.end(entry.node);
    entry.result = result;
    const thrown = this.#tell("task.completed", entry);
    if (thrown === undefined) {
      this.#tellAllReady(this.#numbered.complete(entry.node));
    } else {
      const error = listenerFailed("task.completed", thrown.error);
      this.fail(entry, error, result && Object.freeze({ ...result, success: false, error }));
    }
  }

  fail(entry: TaskEntry, error: string, result?: TaskResult): void {
    entry.result = result;
    this.#end(entry, "failed", error);
  }

  cancel(entry: TaskEntry, reason: string): void {
    this.#end(entry, "cancelled", reason);
  }

  /** Running → pending. A task that came as `running` was never taken here. */
  interrupt(entry: TaskEntry): void {
    if (this.#numbered.status(entry.node) === TAKEN) this.#numbered.release(entry.node);
    this.#change(entry, "pending");
    this.#times.restore(entry.node);
    this.#tell("task.interrupted", entry);
    this.#tellReady(entry.node);
  }

  #end(entry: TaskEntry, status: "failed" | "cancelled", why: string): void {
    this.#change(entry, status, why);
    this.#times.end(entry.node);
    const below = this.#numbered.fail(entry.node);
    const reason = reasonFor(entry);
    for (const node of below) this.#change(this.#entries[node]!, "skipped", reason);
    this.#tell(`task.${status}`, entry);
    this.#tellSkipped(below);
  }

  #change(entry: TaskEntry, status: TaskStatus, why?: string): void {
    count(this.#counts, entry.status, -1);
    count(this.#counts, status, 1);
    entry.status = status;
    entry.why = why;
    if (entry.run === undefined) return;
    entry.run.stop(new Error(`task "${entry.id}" is ${status}`));
    entry.run = undefined;
  }

  #tell(type: TaskEvent["type"], entry: TaskEntry): ListenerError | undefined {
    return this.events.hears(type) ? this.events.tell({ type, task: this.taskOf(entry) }) : undefined;
  }

  #tellSkipped(nodes: readonly number[]): void {
    if (!this.events.hears("task.skipped")) return;
    for (const node of nodes) this.#tell("task.skipped", this.#entries[node]!);
  }

  #tellAllReady(nodes: readonly number[]): void {
    if (!this.events.hears("task.ready")) return;
    for (const node of nodes) this.#tellReady(node);
  }

  #tellReady(node: number): void {
    const entry = this.#entries[node]!;
    // A listener to an earlier event may have started or settled it meanwhile.
    if (entry.status !== "pending" || this.#numbered.status(node) !== READY) return;
    const thrown = this.#tell("task.ready", entry);
    if (thrown === undefined || isSettled(entry.status)) return;
    this.fail(entry, listenerFailed("task.ready", thrown.error));
  }

  #whyDoomed(entry: TaskEntry): string {
    const dependencies = entry.dependencies.map((id) => this.find(id));
    return reasonFor(dependencies.find((other) => other && this.#numbered.status(other.node) === DEAD)!);
  }

  #name(id: string): number {
    const node = this.dag.name(id);
    // Without holes, the list stays a plain array.
    while (this.#entries.length <= node) this.#entries.push(undefined);
    return node;
  }
}

/** In words, whatever was thrown. */
export function messageOf(thrown: unknown): string {
  try {
    const { message = thrown, name = "" } = Object(thrown) as { message?: unknown; name?: unknown };
    return String(message) || String(name) || "failed without a message";
  } catch {
    return "failed with an error that cannot be shown"; // Reading it threw: there is nothing to show.
  }
}

const SETTLED_AS = {
  pending: undefined,
  running: undefined,
  complete: DONE,
  failed: DEAD,
  skipped: DEAD,
  cancelled: DEAD,
} as const;

/** A switch, because `counts[status]` is a dictionary look-up: measured, it made each change twice as dear. */
function count(counts: Record<TaskStatus, number>, status: TaskStatus, by: 1 | -1): void {
  switch (status) {
    case "pending":
      counts.pending += by;
      break;
    case "running":
      counts.running += by;
      break;
    case "complete":
      counts.complete += by;
      break;
    default:
      counts[status] += by;
  }
}

function isRunning(entry: TaskEntry, run: TaskRun | undefined): boolean {
  return entry.run === run && entry.status === "running";
}

/** What is said of the tasks below one that will not complete; a skipped one hands on why it was skipped. */
function reasonFor({ id, status, why }: TaskEntry): string {
  if (status === "failed") return `"${id}" failed${why === undefined ? "" : `: ${why}`}`;
  if (status === "cancelled") return `"${id}" was cancelled`;
  return why ?? `"${id}" was skipped`;
}

function listenerFailed(type: TaskEvent["type"], error: unknown): string {
  return `a listener to ${type} threw: ${messageOf(error)}`;
}
