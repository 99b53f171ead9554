/** Keeps the ready nodes of one lane, most urgent first, then in the order of insertion. */
import type { DagNode } from "./dag-node.ts";
import { Heap } from "./heap.ts";

/**
 * Most nodes become ready in order: they join a line, which costs the same at any length. Only a node that comes out of
 * order goes through the heap, at the cost of a logarithm.
 */
export class ReadyQueue<N extends DagNode> {
  /** Nodes in order; undefined where a node was taken. */
  #line: (N | undefined)[] = [];
  /** The number of the line's first place. A node in the line has `slot = ~place`, which is below 0. */
  #start = 0;
  /** The first place that may hold a node. */
  #head = 0;
  #lined = 0;
  /**
   * The priority of the last node that joined the line. Stored here, because a released node may get another priority.
   */
  #lastPriority = Number.NEGATIVE_INFINITY;
  #lastRank = -1;
  readonly #heap = new Heap<N>(isBefore, (node, position) => {
    node.slot = position;
  });
  #changes = 0;

  get size(): number {
    return this.#lined + this.#heap.size;
  }

  push(node: N): void {
    this.#changes++;
    if (this.#lined === 0) this.#clearLine();
    const { priority, rank } = node;
    if (priority === this.#lastPriority ? rank < this.#lastRank : priority < this.#lastPriority) {
      this.#heap.push(node);
      return;
    }
    node.slot = ~(this.#start + this.#line.push(node) - 1);
    this.#lined++;
    this.#lastPriority = priority;
    this.#lastRank = rank;
  }

  remove(node: N): void {
    this.#changes++;
    if (node.slot >= 0) {
      this.#heap.removeAt(node.slot);
      return;
    }
    const line = this.#line;
    line[~node.slot - this.#start] = undefined;
    this.#lined--;
    while (this.#lined > 0 && line[this.#head - this.#start] === undefined) this.#head++;
    const empty = line.length - this.#lined;
    if (empty > MAX_EMPTY && empty * 2 > line.length) this.#closeUp();
  }

  peek(): N | undefined {
    return earlier(this.#lined === 0 ? undefined : this.#line[this.#head - this.#start], this.#heap.at(0));
  }

  /** Iterates in order, lazily. The queue may change meanwhile: the iteration continues after the last node it gave. */
  *inOrder(): Generator<N, undefined> {
    let last: Key = BEFORE_ALL;
    let place = this.#head;
    let frontier = this.#frontier();
    let changes = this.#changes;
    for (;;) {
      if (changes !== this.#changes) {
        frontier = this.#frontier();
        changes = this.#changes;
      }
      place = this.#placeAfter(last, Math.max(place, this.#start));
      const next = earlier(this.#line[place - this.#start], this.#heapAfter(last, frontier));
      if (next === undefined) return;
      last = { priority: next.priority, rank: next.rank };
      yield next;
    }
  }

  #placeAfter(last: Key, from: number): number {
    const end = this.#start + this.#line.length;
    for (let place = from; place < end; place++) {
      const node = this.#line[place - this.#start];
      if (node !== undefined && isBefore(last, node)) return place;
    }
    return end;
  }

  /** Positions in the heap whose parents the iteration has passed; the first of them is next. */
  #frontier(): Heap<number> {
    const frontier = new Heap<number>((a, b) => isBefore(this.#heap.at(a)!, this.#heap.at(b)!));
    if (this.#heap.size > 0) frontier.push(0);
    return frontier;
  }

  #heapAfter(last: Key, frontier: Heap<number>): N | undefined {
    for (let position = frontier.at(0); position !== undefined; position = frontier.at(0)) {
      const node = this.#heap.at(position)!;
      if (isBefore(last, node)) return node;
      frontier.pop();
      for (const child of [2 * position + 1, 2 * position + 2])
        if (child < this.#heap.size) frontier.push(child);
    }
    return undefined;
  }

  /** Places are never renumbered, so an iteration that is under way keeps its place. */
  #clearLine(): void {
    this.#start += this.#line.length;
    this.#head = this.#start;
    this.#line.length = 0;
    this.#lastPriority = Number.NEGATIVE_INFINITY;
    this.#lastRank = -1;
  }

  /**
   * Removes the empty places, also those behind a node that stays for long, so that an iteration passes few of them.
   */
  #closeUp(): void {
    this.#start += this.#line.length;
    this.#head = this.#start;
    const line = this.#line.filter((node) => node !== undefined);
    for (let i = 0; i < line.length; i++) line[i]!.slot = ~(this.#start + i);
    this.#line = line;
  }
}

/** The number of empty places in the line at which they are removed. */
const MAX_EMPTY = 1_000;

interface Key {
  readonly priority: number;
  readonly rank: number;
}

const BEFORE_ALL: Key = { priority: Number.NEGATIVE_INFINITY, rank: -1 };

const isBefore = (a: Key, b: Key): boolean =>
  a.priority === b.priority ? a.rank < b.rank : a.priority < b.priority;

function earlier<N extends DagNode>(one: N | undefined, other: N | undefined): N | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return isBefore(one, other) ? one : other;
}
