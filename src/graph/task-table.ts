/** Changes the status of tasks, updates their dependents and tells the listeners. */
import { DagNode, NO_IDS } from "./dag-node.ts";
import { GraphEvents, type GraphProgress, type ListenerError, type TaskEvent } from "./graph-events.ts";
import { NodeGraph } from "./node-graph.ts";
import {
  checkTask,
  type PlannedTask,
  type TaskInput,
  type TaskResult,
  type TaskStatus,
} from "./planned-task.ts";

/** A task of the graph and its node in the DAG. It is never handed out. */
export class TaskNode extends DagNode {
  description = "";
  /** Given fields that this class does not have: optional ones, and the user's own. */
  more: object | undefined = undefined;
  status: TaskStatus = "pending";
  startedAt: number | undefined = undefined;
  completedAt: number | undefined = undefined;
  result: TaskResult | undefined = undefined;
  /** Why the task failed, was skipped or was cancelled. */
  why: string | undefined = undefined;
  /** The running executor; any other change of the task stops it. */
  run: TaskRun | undefined = undefined;
}

/** A running executor of one task. */
export interface TaskRun {
  stop(reason: unknown): void;
}

export function isSettled(status: TaskStatus): boolean {
  return status !== "pending" && status !== "running";
}

/**
 * The tasks of a graph and their DAG. Every change is complete before a listener is told, except that no dependent of a
 * completed task starts until the listeners have returned: a listener that throws fails the task.
 */
export class TaskTable {
  readonly events = new GraphEvents();
  readonly dag = new NodeGraph((id) => new TaskNode(id));
  readonly #now: () => number;
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

  add(input: TaskInput): TaskNode {
    checkTask(input);
    const task = this.dag.named(input.id);
    if (task.state !== "missing") throw new Error(`task "${input.id}" is in the graph already`);
    fill(task, input);
    this.#counts[task.status] += 1;
    const { dependencies = NO_IDS, priority } = input;
    const after = dependencies.length === 0 ? NO_IDS : Object.freeze([...dependencies]);
    this.#entered(task, this.dag.enter(task, after, { priority }, SETTLED_AS[task.status]));
    return task;
  }

  /** Applies what follows from a task's first status, for itself and for its waiting dependents. */
  #entered(task: TaskNode, changed: readonly TaskNode[]): void {
    if (task.state === "ready") this.#tellReady(task);
    else if (task.state === "done") this.#tellAllReady(changed);
    if (task.state !== "dead") return;
    const isDoomed = !isSettled(task.status);
    if (isDoomed) this.#change(task, "skipped", this.#whyDoomed(task));
    for (const other of changed) this.#change(other, "skipped", reasonFor(task));
    if (isDoomed) this.#tell("task.skipped", task);
    this.#tellSkipped(changed);
  }

  get(id: string): TaskNode {
    const task = this.find(id);
    if (task === undefined) throw new Error(`there is no task "${id}" in the graph`);
    return task;
  }

  find(id: string): TaskNode | undefined {
    return this.dag.find(id);
  }

  tasks(): PlannedTask[] {
    return this.dag.added.map(taskOf);
  }

  /** The running executors. Looks at every task. */
  runs(): TaskRun[] {
    return this.dag.added.flatMap(({ run }) => run ?? []);
  }

  progress(): GraphProgress {
    const { complete: completed, ...counts } = this.#counts;
    return { total: this.dag.added.length, completed, ...counts };
  }

  /** Returns false if a listener settled the task. */
  start(task: TaskNode, run: TaskRun | undefined): boolean {
    this.dag.take(task);
    this.#change(task, "running");
    task.startedAt = this.#now();
    task.completedAt = undefined;
    task.run = run;
    const thrown = this.#tell("task.started", task);
    if (thrown !== undefined && isRunning(task, run)) {
      this.fail(task, listenerFailed("task.started", thrown.error));
    }
    return isRunning(task, run);
  }

  complete(task: TaskNode, result?: TaskResult): void {
    // A ready task may complete without having run; it must not be started while its listeners are called.
    if (task.state === "ready") this.dag.take(task);
    this.#change(task, "complete");
    task.completedAt = this.#now();
    task.result = result;
    const thrown = this.#tell("task.completed", task);
    if (thrown === undefined) {
      this.#tellAllReady(this.dag.complete(task));
    } else {
      const error = listenerFailed("task.completed", thrown.error);
      this.fail(task, error, result && Object.freeze({ ...result, success: false, error }));
    }
  }

  fail(task: TaskNode, error: string, result?: TaskResult): void {
    task.result = result;
    this.#end(task, "failed", error);
  }

  cancel(task: TaskNode, reason: string): void {
    this.#end(task, "cancelled", reason);
  }

  /** Running → pending. A task that was added as `running` was never taken from the DAG. */
  interrupt(task: TaskNode): void {
    if (task.state === "taken") this.dag.release(task);
    this.#change(task, "pending");
    task.startedAt = undefined;
    task.completedAt = undefined;
    this.#tell("task.interrupted", task);
    this.#tellReady(task);
  }

  #end(task: TaskNode, status: "failed" | "cancelled", why: string): void {
    this.#change(task, status, why);
    task.completedAt = this.#now();
    const below = this.dag.fail(task);
    const reason = reasonFor(task);
    for (const other of below) this.#change(other, "skipped", reason);
    this.#tell(`task.${status}`, task);
    this.#tellSkipped(below);
  }

  #change(task: TaskNode, status: TaskStatus, why?: string): void {
    this.#counts[task.status] -= 1;
    this.#counts[status] += 1;
    task.status = status;
    task.why = why;
    if (task.run === undefined) return;
    task.run.stop(new Error(`task "${task.id}" is ${status}`));
    task.run = undefined;
  }

  #tell(type: TaskEvent["type"], task: TaskNode): ListenerError | undefined {
    return this.events.hears(type) ? this.events.tell({ type, task: taskOf(task) }) : undefined;
  }

  #tellSkipped(tasks: readonly TaskNode[]): void {
    if (!this.events.hears("task.skipped")) return;
    for (const task of tasks) this.#tell("task.skipped", task);
  }

  #tellAllReady(tasks: readonly TaskNode[]): void {
    if (!this.events.hears("task.ready")) return;
    for (const task of tasks) this.#tellReady(task);
  }

  #tellReady(task: TaskNode): void {
    // A listener of an earlier event may have started or settled the task meanwhile.
    if (task.status !== "pending" || task.state !== "ready") return;
    const thrown = this.#tell("task.ready", task);
    if (thrown === undefined || isSettled(task.status)) return;
    this.fail(task, listenerFailed("task.ready", thrown.error));
  }

  #whyDoomed({ after }: TaskNode): string {
    const dead = after.map((id) => this.find(id)).find((other) => other?.state === "dead");
    return reasonFor(dead!);
  }
}

/** The task as it is now: a copy, except for objects within the user's own fields. */
export function taskOf(task: TaskNode): PlannedTask {
  const { id, description, after: dependencies, status, more, startedAt, completedAt, result, why } = task;
  // One literal per common set of fields is faster than adding fields one by one.
  if (more === undefined && why === undefined) {
    if (status === "running" && startedAt !== undefined)
      return { id, description, dependencies, status, startedAt };
    if (status === "pending") return { id, description, dependencies, status };
    if (status === "complete" && startedAt !== undefined && completedAt !== undefined && result !== undefined)
      return { id, description, dependencies, status, startedAt, completedAt, result };
  }
  return {
    ...{ id, description, dependencies, status },
    ...more,
    ...(startedAt !== undefined && { startedAt }),
    ...(completedAt !== undefined && { completedAt }),
    ...(result !== undefined && { result }),
    ...(why !== undefined && (status === "failed" ? { error: why } : { reason: why })),
  };
}

/** How an earlier execution ended is kept only for settled tasks: the others will start or end again. */
function fill(task: TaskNode, input: TaskInput): void {
  const { description, status = "pending" } = input;
  task.description = description;
  task.status = status;
  task.more = moreOf(input);
  if (status !== "pending") task.startedAt = input.startedAt;
  if (!isSettled(status)) return;
  task.completedAt = input.completedAt;
  task.result = input.result && Object.freeze({ ...input.result });
  task.why = input.error ?? input.reason;
}

/** Most tasks have no other fields, and destructuring costs more than everything else in adding a task. */
function moreOf(input: TaskInput): object | undefined {
  for (const key in input) {
    if (KEPT.has(key)) continue;
    const { id, description, dependencies, status, startedAt, completedAt, result, error, reason, ...more } =
      input;
    return more;
  }
  return undefined;
}

const KEPT: ReadonlySet<string> = new Set([
  ...["id", "description", "dependencies", "status", "startedAt", "completedAt", "result", "error", "reason"],
]);

/** The message of any thrown value. */
export function messageOf(thrown: unknown): string {
  try {
    const { message = thrown, name = "" } = Object(thrown) as { message?: unknown; name?: unknown };
    return String(message) || String(name) || "failed without a message";
  } catch {
    return "failed with an error that cannot be shown"; // Reading the error threw, so there is nothing to show.
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

function isRunning(task: TaskNode, run: TaskRun | undefined): boolean {
  return task.run === run && task.status === "running";
}

/** The reason given to tasks below one that will not complete; a skipped task passes on its own reason. */
function reasonFor({ id, status, why }: TaskNode): string {
  if (status === "failed") return `"${id}" failed${why === undefined ? "" : `: ${why}`}`;
  if (status === "cancelled") return `"${id}" was cancelled`;
  return why ?? `"${id}" was skipped`;
}

function listenerFailed(type: TaskEvent["type"], error: unknown): string {
  return `a listener to ${type} threw: ${messageOf(error)}`;
}
