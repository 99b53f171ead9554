/** The ready nodes of one lane: who is next, most urgent first, then in the order of insertion? */
import { IndexHeap } from "./index-heap.ts";
import type { NodeTable } from "./node-table.ts";

/**
 * A sorted run and a heap. A node that comes after everything in the run is appended to it, which is the
 * whole cost when nodes become ready in order; any other goes to the heap. `slot` holds a node's place:
 * positive in the run, negative in the heap, both offset by one, 0 when it is in neither.
 */
export class ReadyQueue {
  readonly #table: NodeTable;
  readonly #heap: IndexHeap;
  #run = new Int32Array(16);
  #head = 0;
  #tail = 0;
  #live = 0;
  #changes = 0;

  constructor(table: NodeTable) {
    this.#table = table;
    this.#heap = new IndexHeap(
      (a, b) => this.#isBefore(a, b),
      (node, position) => {
        table.slot[node] = -1 - position;
      },
    );
  }

  get size(): number {
    return this.#live + this.#heap.size;
  }

  push(node: number): void {
    this.#changes++;
    if (this.#head !== this.#tail && this.#isBefore(node, this.#run[this.#tail - 1]!)) {
      this.#heap.push(node);
      return;
    }
    if (this.#tail === this.#run.length) this.#makeRoom();
    this.#run[this.#tail++] = node;
    this.#live++;
    this.#table.slot[node] = this.#tail;
  }

  remove(node: number): void {
    this.#changes++;
    const slot = this.#table.slot[node]!;
    this.#table.slot[node] = 0;
    if (slot < 0) this.#heap.removeAt(-1 - slot);
    else this.#removeFromRun(slot - 1);
  }

  peek(): number | undefined {
    const fromRun = this.#head !== this.#tail;
    if (this.#heap.size === 0) return fromRun ? this.#run[this.#head]! : undefined;
    const top = this.#heap.at(0);
    return fromRun && this.#isBefore(this.#run[this.#head]!, top) ? this.#run[this.#head]! : top;
  }

  /** In order, lazily. The queue may change meanwhile: the walk goes on after the last node it gave. */
  *inOrder(): Generator<number, undefined> {
    const frontier = new IndexHeap((a, b) => this.#isBefore(this.#heap.at(a), this.#heap.at(b)));
    let cursor = this.#head;
    let changes = this.#changes - 1;
    let last: { readonly priority: number; readonly rank: number } | undefined;
    while (true) {
      if (changes !== this.#changes) {
        changes = this.#changes;
        cursor = this.#head;
        frontier.clear();
        if (this.#heap.size > 0) frontier.push(0);
      }
      while (cursor < this.#tail && this.#run[cursor] === HOLE) cursor++;
      const fromRun = cursor < this.#tail ? this.#run[cursor]! : undefined;
      const fromHeap = frontier.size > 0 ? this.#heap.at(frontier.at(0)) : undefined;
      if (fromRun === undefined && fromHeap === undefined) return;
      let node: number;
      if (fromHeap === undefined || (fromRun !== undefined && this.#isBefore(fromRun, fromHeap))) {
        node = fromRun!;
        cursor++;
      } else {
        node = fromHeap;
        this.#expand(frontier);
      }
      const key = { priority: this.#table.priority[node]!, rank: this.#table.rank[node]! };
      if (last !== undefined && !isAfter(key, last)) continue;
      last = key;
      yield node;
    }
  }

  #expand(frontier: IndexHeap): void {
    const child = 2 * frontier.pop() + 1;
    if (child < this.#heap.size) frontier.push(child);
    if (child + 1 < this.#heap.size) frontier.push(child + 1);
  }

  #isBefore(a: number, b: number): boolean {
    const { priority, rank } = this.#table;
    return priority[a]! === priority[b]! ? rank[a]! < rank[b]! : priority[a]! < priority[b]!;
  }

  /** Both ends of the run are always live: holes there are dropped, holes between wait for `#makeRoom`. */
  #removeFromRun(position: number): void {
    this.#run[position] = HOLE;
    if (--this.#live === 0) {
      this.#head = 0;
      this.#tail = 0;
      return;
    }
    while (this.#run[this.#head] === HOLE) this.#head++;
    while (this.#run[this.#tail - 1] === HOLE) this.#tail--;
  }

  #makeRoom(): void {
    const to = this.#live * 2 > this.#run.length ? new Int32Array(this.#run.length * 2) : this.#run;
    let kept = 0;
    for (let position = this.#head; position < this.#tail; position++) {
      const node = this.#run[position]!;
      if (node === HOLE) continue;
      to[kept++] = node;
      this.#table.slot[node] = kept;
    }
    this.#run = to;
    this.#head = 0;
    this.#tail = kept;
  }
}

const HOLE = -1;

interface Key {
  readonly priority: number;
  readonly rank: number;
}

function isAfter(a: Key, b: Key): boolean {
  return a.priority === b.priority ? a.rank > b.rank : a.priority > b.priority;
}
