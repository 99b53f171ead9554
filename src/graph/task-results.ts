/** The results of the tasks that ended, in the order they ended. */
import type { TaskResult } from "./planned-task.ts";
import type { TaskEntry } from "./task-entry.ts";
import { printsAs } from "./task-printing.ts";

/**
 * A read-only map over a list. The index is made when the first id is looked up: filling a map on the way
 * cost a tenth of the whole execution.
 */
export class TaskResults implements ReadonlyMap<string, TaskResult> {
  readonly #ended: readonly TaskEntry[];
  #index: ReadonlyMap<string, TaskResult> | undefined;

  static {
    printsAs<TaskResults>(TaskResults.prototype, function () {
      return new Map(this);
    });
  }

  /** Every entry of the list has a result. */
  constructor(ended: readonly TaskEntry[]) {
    this.#ended = ended;
  }

  get size(): number {
    return this.#ended.length;
  }

  get(id: string): TaskResult | undefined {
    this.#index ??= new Map(this);
    return this.#index.get(id);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  *entries(): MapIterator<[string, TaskResult]> {
    for (const { id, result } of this.#ended) yield [id, result!];
  }

  *keys(): MapIterator<string> {
    for (const { id } of this.#ended) yield id;
  }

  *values(): MapIterator<TaskResult> {
    for (const { result } of this.#ended) yield result!;
  }

  [Symbol.iterator](): MapIterator<[string, TaskResult]> {
    return this.entries();
  }

  forEach(visit: (result: TaskResult, id: string, results: ReadonlyMap<string, TaskResult>) => void): void {
    for (const { id, result } of this.#ended) visit(result!, id, this);
  }
}
