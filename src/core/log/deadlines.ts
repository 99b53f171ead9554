/** What falls due next? A deadline for each key, the earliest one at hand. */

type Deadline = { readonly key: string; readonly at: number; readonly turn: number };

/**
 * A binary heap that forgets late: a replaced or deleted deadline stays in it until it comes up, or until
 * such leftovers outnumber the living. So every change is cheap, and memory follows the living keys.
 */
export class Deadlines {
  readonly #current = new Map<string, Deadline>();
  /** Each entry is no earlier than its parent at (i - 1) / 2; `#heap[0]` is never a leftover. */
  #heap: Deadline[] = [];
  #turns = 0;

  /** Replaces an earlier one of the same key. */
  set(key: string, at: number): void {
    if (Number.isNaN(at)) throw new RangeError(`the deadline of ${JSON.stringify(key)} is not a number`);
    const deadline = { key, at, turn: this.#turns++ };
    this.#current.set(key, deadline);
    siftUp(this.#heap, deadline);
    this.#forget();
  }

  delete(key: string): void {
    if (this.#current.delete(key)) this.#forget();
  }

  get(key: string): number | undefined {
    return this.#current.get(key)?.at;
  }

  /** The earliest time. */
  next(): number | undefined {
    return this.#heap[0]?.at;
  }

  /** The keys whose time has come, by time, then by when they were set. Changes nothing. */
  due(now: number): readonly string[] {
    const found: Deadline[] = [];
    const open = [0];
    for (let i = open.pop(); i !== undefined; i = open.pop()) {
      const deadline = this.#heap[i];
      if (!deadline || deadline.at > now) continue; // What is below it is no earlier.
      if (this.#isCurrent(deadline)) found.push(deadline);
      open.push(2 * i + 1, 2 * i + 2);
    }
    return found.sort(byTime).map(({ key }) => key);
  }

  get size(): number {
    return this.#current.size;
  }

  #isCurrent(deadline: Deadline): boolean {
    return this.#current.get(deadline.key) === deadline;
  }

  /** Every entry is pushed once and taken out once, so what this costs was paid for by `set`. */
  #forget(): void {
    if (this.#heap.length > 2 * this.#current.size + SLACK) {
      // Sorted is also a heap.
      this.#heap = [...this.#current.values()].sort(byTime);
    }
    for (let top = this.#heap[0]; top && !this.#isCurrent(top); top = this.#heap[0]) removeTop(this.#heap);
  }
}

/** Leftovers that are not worth a rebuild. */
const SLACK = 32;

const byTime = (a: Deadline, b: Deadline) => (a.at === b.at ? a.turn - b.turn : a.at < b.at ? -1 : 1);

function siftUp(heap: Deadline[], deadline: Deadline): void {
  let hole = heap.length;
  while (hole > 0) {
    const parent = (hole - 1) >> 1;
    if (heap[parent]!.at <= deadline.at) break;
    heap[hole] = heap[parent]!;
    hole = parent;
  }
  heap[hole] = deadline;
}

function removeTop(heap: Deadline[]): void {
  const moved = heap.pop()!;
  if (heap.length === 0) return;
  let hole = 0;
  for (;;) {
    let child = 2 * hole + 1;
    if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child += 1;
    if (child >= heap.length || heap[child]!.at >= moved.at) break;
    heap[hole] = heap[child]!;
    hole = child;
  }
  heap[hole] = moved;
}
