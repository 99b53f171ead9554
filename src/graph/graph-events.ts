/** Who wants to hear what happens to a graph, and what if a listener throws? */

import type { ExecutionSummary } from "./execution-summary.ts";
import type { PlannedTask } from "./planned-task.ts";
import type { ListenerError, TaskEvent } from "./task-event.ts";

export type { ListenerError, TaskEvent } from "./task-event.ts";

export type GraphEvent =
  | TaskEvent
  | { readonly type: "execution.finished"; readonly summary: ExecutionSummary };
export type GraphEventType = GraphEvent["type"];
export type GraphEventOf<T extends GraphEventType> = T extends TaskEvent["type"]
  ? { readonly type: T; readonly task: PlannedTask }
  : Extract<GraphEvent, { readonly type: T }>;
export type GraphListener<T extends GraphEventType> = (event: GraphEventOf<T>) => void;

type Listener = (event: GraphEvent) => void;

/** The listeners of one graph. They are called at once, in the order they came; none can stop the others. */
export class GraphEvents {
  /** A list is replaced, never changed: one that is being told stays as it was. None is empty. */
  readonly #listeners = new Map<GraphEventType, readonly Listener[]>();
  #errors: ListenerError[] = [];

  on<T extends GraphEventType>(type: T, listener: GraphListener<T>): () => void {
    // Only events of this type are told to it.
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

  /** What listeners threw since the last call. */
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

/** One broken listener can throw once per task; the first errors tell enough. */
const MAX_KEPT_ERRORS = 100;
