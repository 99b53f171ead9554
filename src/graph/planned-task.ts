/** Types of a task in a graph, and the check of tasks that users pass in. */

export type TaskStatus = "pending" | "running" | "complete" | "failed" | "skipped" | "cancelled";

/** The result of an executed task. */
export interface TaskResult {
  readonly success: boolean;
  readonly output: string;
  /** In milliseconds. */
  readonly duration: number;
  readonly error?: string;
}

/** One task of a graph: a copy of its state at the time of the call. Fields that you add are kept. */
export interface PlannedTask {
  readonly id: string;
  readonly description: string;
  /** Ids of the tasks that must be complete before this one starts. */
  readonly dependencies: readonly string[];
  readonly status: TaskStatus;
  /** The specialist that should do it. */
  readonly delegateTo?: string;
  /** 1 is most urgent; 5 unless given. */
  readonly priority?: number;
  /** When it was last started, in milliseconds by the graph's clock; unset while it waits to be started again. */
  readonly startedAt?: number;
  /** When it completed, failed or was cancelled. */
  readonly completedAt?: number;
  readonly result?: TaskResult;
  /** Why it failed. */
  readonly error?: string;
  /** Why it was skipped or cancelled. */
  readonly reason?: string;
}

/** A task as input: without dependencies and `pending` unless given. */
export type TaskInput = Omit<PlannedTask, "dependencies" | "status"> &
  Partial<Pick<PlannedTask, "dependencies" | "status">>;

/** Throws an error that says what is wrong, and in which task. */
export function checkTask(input: TaskInput): void {
  if (typeof input !== "object" || input === null)
    throw new Error(`a task must be an object with an id and a description; got ${show(input)}`);
  const { id, description, dependencies = [], status = "pending", priority, delegateTo } = input;
  if (typeof id !== "string" || id === "")
    throw new Error(`a task needs an id, a text that is not empty; got ${show(id)}`);
  if (typeof description !== "string")
    throw new Error(`task "${id}" needs a description; got ${show(description)}`);
  if (!Array.isArray(dependencies))
    throw new Error(`the dependencies of task "${id}" must be a list of ids; got ${show(dependencies)}`);
  for (const other of dependencies) {
    if (typeof other !== "string" || other === "")
      throw new Error(`task "${id}" depends on ${show(other)}, which is not a valid id`);
  }
  if (!STATUSES.has(status)) throw new Error(`task "${id}" has an unknown status: ${show(status)}`);
  if (priority !== undefined && !Number.isFinite(priority)) {
    throw new Error(
      `the priority of task "${id}" must be a number, 1 being most urgent; got ${show(priority)}`,
    );
  }
  for (const name of ["startedAt", "completedAt"] as const) {
    const time = input[name];
    if (time !== undefined && !Number.isFinite(time))
      throw new Error(`${name} of task "${id}" must be a number of milliseconds; got ${show(time)}`);
  }
  if (delegateTo !== undefined && typeof delegateTo !== "string") {
    throw new Error(`task "${id}" is delegated to ${show(delegateTo)}, which is no name`);
  }
}

const STATUSES: ReadonlySet<unknown> = new Set<TaskStatus>([
  "pending",
  "running",
  "complete",
  "failed",
  "skipped",
  "cancelled",
]);

function show(value: unknown): string {
  return typeof value === "string" ? `"${value}"` : Array.isArray(value) ? "a list" : String(value);
}
