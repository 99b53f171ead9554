/** What did an execution of a graph come to? */
import type { TaskResult } from "./planned-task.ts";
import type { ListenerError } from "./task-event.ts";

/** How many tasks are in which status; `total` is their sum. */
export interface GraphProgress {
  readonly total: number;
  readonly completed: number;
  readonly running: number;
  readonly pending: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cancelled: number;
}

export interface ExecutionSummary {
  /** Every task of the graph is complete. */
  readonly success: boolean;
  readonly aborted: boolean;
  /** The results of the tasks that this execution ran, in the order they ended. */
  readonly results: ReadonlyMap<string, TaskResult>;
  /** What was running when the signal came; empty without abort. Those that did not complete are pending again. */
  readonly runningAtAbort: readonly string[];
  /** Tasks that are not settled: after an abort, or because of what `blocked` says. */
  readonly unfinished: readonly string[];
  /** Tasks added on the way could not start: what they wait for, in words. */
  readonly blocked?: string;
  /** What listeners threw; the first hundred. */
  readonly listenerErrors: readonly ListenerError[];
  readonly progress: GraphProgress;
  /** The same counts by other names: of all tasks of the graph, not only of those that this execution ran. */
  readonly totalCount: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly skippedCount: number;
  readonly cancelledCount: number;
  readonly durationMs: number;
}
