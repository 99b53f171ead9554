/** What can happen to a task, and what is kept of a listener that threw when it heard of it? */
import type { PlannedTask } from "./planned-task.ts";

/** What happened to one task. `task` is its value after the change. */
export interface TaskEvent {
  readonly type:
    | "task.ready"
    | "task.started"
    | "task.completed"
    | "task.failed"
    | "task.skipped"
    | "task.cancelled"
    /** It was running and is pending again. */
    | "task.interrupted";
  readonly task: PlannedTask;
}

/** A listener threw, or the promise it returned was rejected. */
export interface ListenerError {
  readonly type: TaskEvent["type"] | "execution.finished";
  readonly taskId?: string;
  readonly error: unknown;
}
