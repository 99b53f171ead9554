/** The events of a task graph, their listeners, and the summary of an execution. */
import type { PlannedTask, TaskResult } from "./planned-task.ts";

/** A change of one task. `task` is its value after the change. */
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
  /** True if every task of the graph is complete. */
  readonly success: boolean;
  readonly aborted: boolean;
  /** The results of the tasks that this execution ran, in the order they ended. */
  readonly results: ReadonlyMap<string, TaskResult>;
  /** The tasks that ran when the abort came; empty without one. Those that did not complete are pending again. */
  readonly runningAtAbort: readonly string[];
  /** Tasks that are not settled: after an abort, or because of what `blocked` says. */
  readonly unfinished: readonly string[];
  /** If tasks that were added during the execution could not start: what they wait for, in words. */
  readonly blocked?: string;
  /** Errors that listeners threw; the first hundred. */
  readonly listenerErrors: readonly ListenerError[];
  readonly progress: GraphProgress;
  /** The same counts by other names, of all tasks of the graph, not only of those that this execution ran. */
  readonly totalCount: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly skippedCount: number;
  readonly cancelledCount: number;
  readonly durationMs: number;
}

export type GraphEvent =
  | TaskEvent
  | { readonly type: "execution.finished"; readonly summary: ExecutionSummary };
export type GraphEventType = GraphEvent["type"];
export type GraphEventOf<T extends GraphEventType> = T extends TaskEvent["type"]
  ? { readonly type: T; readonly task: PlannedTask }
  : Extract<GraphEvent, { readonly type: T }>;
export type GraphListener<T extends GraphEventType> = (event: GraphEventOf<T>) => void;

type Listener = (event: GraphEvent) => void;

/** The listeners of one graph. They are called synchronously in the order of subscription; none can stop the others. */
export class GraphEvents {
  /** A list is replaced, never changed, so a list that is being iterated stays the same. No list is empty. */
  readonly #listeners = new Map<GraphEventType, readonly Listener[]>();
  #errors: ListenerError[] = [];

  on<T extends GraphEventType>(type: T, listener: GraphListener<T>): () => void {
    // `tell` calls this listener only with events of its type.
    const added = listener as Listener;
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), added]);
    let isOn = true;
    return () => {
      if (isOn) this.#remove(type, added);
      isOn = false;
    };
  }

  hears(type: GraphEventType): boolean {
    return this.#listeners.has(type);
  }

  /** Returns the first error that a listener threw. */
  tell(event: GraphEvent): ListenerError | undefined {
    let first: ListenerError | undefined;
    const listeners = this.#listeners.get(event.type) ?? [];
    for (let at = 0; at < listeners.length; at++) {
      try {
        const returned: unknown = listeners[at]!(event);
        if (returned instanceof Promise) returned.catch((error: unknown) => this.#keep(event, error));
      } catch (error) {
        const kept = this.#keep(event, error);
        first ??= kept;
      }
    }
    return first;
  }

  #remove(type: GraphEventType, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? [];
    const left = listeners.toSpliced(listeners.indexOf(listener), 1);
    if (left.length > 0) this.#listeners.set(type, left);
    else this.#listeners.delete(type);
  }

  /** The errors that listeners threw since the last call. */
  takeErrors(): readonly ListenerError[] {
    const errors = this.#errors;
    this.#errors = [];
    return errors;
  }

  #keep(event: GraphEvent, error: unknown): ListenerError {
    const kept: ListenerError =
      event.type === "execution.finished"
        ? { type: event.type, error }
        : { type: event.type, taskId: event.task.id, error };
    if (this.#errors.length < MAX_KEPT_ERRORS) this.#errors.push(kept);
    return kept;
  }
}

/** One broken listener can throw once per task, so only the first errors are kept. */
const MAX_KEPT_ERRORS = 100;
