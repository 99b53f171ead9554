/** What does each change of a task's status bring about, for its dependents and for the listeners? */

import { OrderedDag } from "./dag.ts";
import { GraphEvents, type GraphProgress, type ListenerError, type TaskEvent } from "./graph-events.ts";
import {
  checkTask,
  type PlannedTask,
  type TaskInput,
  type TaskResult,
  type TaskStatus,
} from "./planned-task.ts";

/** What a graph keeps of a task. It is never handed out. */
export interface TaskEntry {
  readonly id: string;
  readonly description: string;
  readonly dependencies: readonly string[];
  /** What else was given: optional fields, and fields of the user's own. */
  readonly more: object;
  status: TaskStatus;
  startedAt: number | undefined;
  completedAt: number | undefined;
  result: TaskResult | undefined;
  /** Why it failed, was skipped or was cancelled. */
  why: string | undefined;
  /** The executor at work; any other change of the task ends it. */
  run: TaskRun | undefined;
}

/** An executor at work on one task. */
export interface TaskRun {
  stop(reason: unknown): void;
}

export function isSettled(status: TaskStatus): boolean {
  return status !== "pending" && status !== "running";
}

/**
 * The tasks of a graph and their DAG, kept in step. Every change is made in full before a listener hears of
 * it, except that nothing starts below a task until the listeners to its completion have returned: one that
 * throws fails the task.
 */
export class TaskTable {
  readonly events = new GraphEvents();
  readonly dag = new OrderedDag();
  readonly #now: () => number;
  readonly #entries = new Map<string, TaskEntry>();
  readonly #counts: Record<TaskStatus, number> = {
    pending: 0,
    running: 0,
    complete: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  };

  constructor(now: () => number) {
    this.#now = now;
  }

  add(input: TaskInput): TaskEntry {
    checkTask(input);
    const { id, priority } = input;
    if (this.#entries.has(id)) throw new Error(`task "${id}" is in the graph already`);
    const entry = entryFor(input);
    this.#entries.set(id, entry);
    this.#counts[entry.status] += 1;
    const options = { after: entry.dependencies, as: SETTLED_AS[entry.status] };
    const changed = this.dag.enter(id, { ...options, ...(priority !== undefined && { priority }) });
    this.#entered(entry, changed);
    return entry;
  }

  /** What follows from a task's first status, for itself and for those that were waiting for it. */
  #entered(entry: TaskEntry, changed: readonly string[]): void {
    const status = this.dag.status(entry.id);
    if (status === "ready") this.#tellReady(entry.id);
    else if (status === "done") this.#tellAllReady(changed);
    if (status !== "dead") return;
    const isDoomed = !isSettled(entry.status);
    if (isDoomed) this.#change(entry, "skipped", this.#whyDoomed(entry));
    for (const id of changed) this.#change(this.entry(id), "skipped", reasonFor(entry));
    if (isDoomed) this.#tell("task.skipped", entry);
    this.#tellSkipped(changed);
  }

  entry(id: string): TaskEntry {
    const entry = this.find(id);
    if (entry === undefined) throw new Error(`there is no task "${id}" in the graph`);
    return entry;
  }

  find(id: string): TaskEntry | undefined {
    return this.#entries.get(id);
  }

  tasks(): PlannedTask[] {
    return Array.from(this.#entries.values(), taskOf);
  }

  /** The executors at work. Looks at every task. */
  runs(): TaskRun[] {
    return [...this.#entries.values()].flatMap(({ run }) => run ?? []);
  }

  /** The most urgent task that can start. */
  next(): TaskEntry | undefined {
    const id = this.dag.peek();
    return id === undefined ? undefined : this.#entries.get(id);
  }

  isWaiting(entry: TaskEntry): boolean {
    return this.dag.status(entry.id) === "waiting";
  }

  progress(): GraphProgress {
    const { complete: completed, ...counts } = this.#counts;
    return { total: this.dag.size, completed, ...counts };
  }

  /** False if a listener settled it. */
  start(entry: TaskEntry, run: TaskRun | undefined): boolean {
    this.dag.take(entry.id);
    this.#change(entry, "running");
    entry.startedAt = this.#now();
    entry.completedAt = undefined;
    entry.run = run;
    const thrown = this.#tell("task.started", entry);
    if (thrown !== undefined && isRunning(entry, run)) {
      this.fail(entry, listenerFailed("task.started", thrown.error));
    }
    return isRunning(entry, run);
  }

  complete(entry: TaskEntry, result?: TaskResult): void {
    // A ready task may complete without having run; it must not be started while its listeners are told.
    if (this.dag.status(entry.id) === "ready") this.dag.take(entry.id);
    this.#change(entry, "complete");
    entry.completedAt = this.#now();
    entry.result = result;
    const thrown = this.#tell("task.completed", entry);
    if (thrown === undefined) {
      this.#tellAllReady(this.dag.complete(entry.id));
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
    if (this.dag.status(entry.id) === "taken") this.dag.release(entry.id);
    this.#change(entry, "pending");
    entry.startedAt = undefined;
    entry.completedAt = undefined;
    this.#tell("task.interrupted", entry);
    this.#tellReady(entry.id);
  }

  #end(entry: TaskEntry, status: "failed" | "cancelled", why: string): void {
    this.#change(entry, status, why);
    entry.completedAt = this.#now();
    const below = this.dag.fail(entry.id);
    const reason = reasonFor(entry);
    for (const id of below) this.#change(this.entry(id), "skipped", reason);
    this.#tell(`task.${status}`, entry);
    this.#tellSkipped(below);
  }

  #change(entry: TaskEntry, status: TaskStatus, why?: string): void {
    this.#counts[entry.status] -= 1;
    this.#counts[status] += 1;
    entry.status = status;
    entry.why = why;
    if (entry.run === undefined) return;
    entry.run.stop(new Error(`task "${entry.id}" is ${status}`));
    entry.run = undefined;
  }

  #tell(type: TaskEvent["type"], entry: TaskEntry): ListenerError | undefined {
    return this.events.hears(type) ? this.events.tell({ type, task: taskOf(entry) }) : undefined;
  }

  #tellSkipped(ids: readonly string[]): void {
    if (!this.events.hears("task.skipped")) return;
    for (const id of ids) this.#tell("task.skipped", this.entry(id));
  }

  #tellAllReady(ids: readonly string[]): void {
    if (!this.events.hears("task.ready")) return;
    for (const id of ids) this.#tellReady(id);
  }

  #tellReady(id: string): void {
    const entry = this.entry(id);
    // A listener to an earlier event may have started or settled it meanwhile.
    if (entry.status !== "pending" || this.dag.status(id) !== "ready") return;
    const thrown = this.#tell("task.ready", entry);
    if (thrown === undefined || isSettled(entry.status)) return;
    this.fail(entry, listenerFailed("task.ready", thrown.error));
  }

  #whyDoomed({ dependencies }: TaskEntry): string {
    const dead = dependencies.find((id) => this.dag.has(id) && this.dag.status(id) === "dead")!;
    return reasonFor(this.entry(dead));
  }
}

/** The task as it is now: a value of its own, but for objects within fields of the user. */
export function taskOf(entry: TaskEntry): PlannedTask {
  const { id, description, dependencies, status, startedAt, completedAt, result, why } = entry;
  return {
    ...{ id, description, dependencies, status },
    ...entry.more,
    ...(startedAt !== undefined && { startedAt }),
    ...(completedAt !== undefined && { completedAt }),
    ...(result !== undefined && { result }),
    ...(why !== undefined && (status === "failed" ? { error: why } : { reason: why })),
  };
}

/** How an earlier execution ended is kept of a settled task only: the others will start, or end, anew. */
function entryFor(input: TaskInput): TaskEntry {
  const { id, description, dependencies = [], status = "pending", ...rest } = input;
  const { startedAt, completedAt, result, error, reason, ...more } = rest;
  const isOver = isSettled(status);
  return {
    ...{ id, description, dependencies: Object.freeze([...dependencies]), more, status, run: undefined },
    startedAt: status === "pending" ? undefined : startedAt,
    completedAt: isOver ? completedAt : undefined,
    result: isOver && result ? Object.freeze({ ...result }) : undefined,
    why: isOver ? (error ?? reason) : undefined,
  };
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
  complete: "done",
  failed: "dead",
  skipped: "dead",
  cancelled: "dead",
} as const;

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
