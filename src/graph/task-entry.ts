/** What does a graph keep of a task, and what does it hand out? */
import type { PlannedTask, TaskInput, TaskResult, TaskStatus } from "./planned-task.ts";
import type { TaskTimes } from "./task-times.ts";

/** A task's place in the graph. It is never handed out. */
export interface TaskEntry {
  readonly node: number;
  readonly id: string;
  readonly description: string;
  readonly dependencies: readonly string[];
  /** What else was given: optional fields, and fields of the user's own. */
  readonly more: object | undefined;
  status: TaskStatus;
  result: TaskResult | undefined;
  /** Why it failed, was skipped or was cancelled. */
  why: string | undefined;
  /** The executor at work; whatever else changes the task ends that. */
  run: TaskRun | undefined;
}

/** An executor at work on one task. */
export interface TaskRun {
  stop(reason: unknown): void;
}

export function isSettled(status: TaskStatus): boolean {
  return status !== "pending" && status !== "running";
}

/** The task as it is now: a value of its own, but for objects within fields of the user. */
export function taskOf(entry: TaskEntry, times: TaskTimes): PlannedTask {
  const { node, id, description, dependencies, status, result, why, more } = entry;
  const startedAt = times.startedAt(node);
  const completedAt = times.completedAt(node);
  if (more !== undefined || why !== undefined) return fullTaskOf(entry, startedAt, completedAt);
  // Most are one of these three, which are made field by field.
  if (startedAt === undefined && completedAt === undefined && result === undefined)
    return { id, description, dependencies, status };
  if (startedAt !== undefined && completedAt === undefined && result === undefined)
    return { id, description, dependencies, status, startedAt };
  if (startedAt !== undefined && completedAt !== undefined && result !== undefined)
    return { id, description, dependencies, status, startedAt, completedAt, result };
  return fullTaskOf(entry, startedAt, completedAt);
}

function fullTaskOf(
  { id, description, dependencies, status, result, why, more }: TaskEntry,
  startedAt: number | undefined,
  completedAt: number | undefined,
): PlannedTask {
  const reason = why === undefined ? {} : status === "failed" ? { error: why } : { reason: why };
  return {
    id,
    description,
    dependencies,
    status,
    ...more,
    ...(startedAt !== undefined && { startedAt }),
    ...(completedAt !== undefined && { completedAt }),
    ...(result !== undefined && { result }),
    ...reason,
  };
}

export function entryFor(node: number, input: TaskInput): TaskEntry {
  const { id, description, status = "pending" } = input;
  const dependencies = input.dependencies?.length
    ? Object.freeze(input.dependencies.slice())
    : NO_DEPENDENCIES;
  const run = undefined;
  if (!hasMore(input)) {
    return {
      node,
      id,
      description,
      dependencies,
      more: undefined,
      status,
      result: undefined,
      why: undefined,
      run,
    };
  }
  const {
    id: _id,
    description: _text,
    dependencies: _after,
    status: _is,
    startedAt: _began,
    completedAt: _ended,
    result,
    error,
    reason,
    ...more
  } = input;
  // How an earlier execution ended is kept of a settled task only: the others will end anew.
  const isOver = isSettled(status);
  const kept = isOver && result !== undefined ? Object.freeze({ ...result }) : undefined;
  const why = isOver ? (error ?? reason) : undefined;
  return { node, id, description, dependencies, more, status, result: kept, why, run };
}

/** Most tasks are of one shape, and copying that field by field takes half the memory and time of a spread. */
function hasMore(input: TaskInput): boolean {
  for (const key in input) {
    if (key !== "id" && key !== "description" && key !== "dependencies" && key !== "status") return true;
  }
  return false;
}

const NO_DEPENDENCIES: readonly string[] = Object.freeze([]);
