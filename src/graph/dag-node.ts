/** The nodes of a graph, the queue of those that are ready, and an order in which all could run. */
import { Heap } from "./heap.ts";

/**
 * ```
 *  add ─→ waiting ─last dependency done─→ ready ─take─→ taken ─complete─→ done
 *            │                             │ ↑           │ │
 *            │                             │ └──release──┘ │        (ready may complete, too)
 *            └──────────── fail, or a dependency died ─────┴─→ dead
 * ```
 */
export type NodeStatus = "waiting" | "ready" | "taken" | "done" | "dead";

export class DagNode {
  readonly id: string;
  /** Missing: named as a dependency, not added yet. */
  status: NodeStatus | "missing" = "missing";
  priority = 0;
  lane = 0;
  /** Its number in the order of insertion. */
  rank = -1;
  after: readonly DagNode[] = NONE;
  /** In the order of their insertion. */
  dependents: DagNode[] | undefined;
  /** Dependencies that are not done yet. */
  unmet = 0;
  /** Its place in the ready queue. */
  slot = -1;

  constructor(id: string) {
    this.id = id;
  }
}

const NONE: readonly DagNode[] = Object.freeze([]);

const isBefore = (a: DagNode, b: DagNode): boolean =>
  a.priority === b.priority ? a.rank < b.rank : a.priority < b.priority;

/** The ready nodes of one lane, most urgent first, then in the order of insertion. */
export class ReadyQueue {
  readonly #heap = new Heap<DagNode>(isBefore, (node, position) => {
    node.slot = position;
  });
  #changes = 0;

  get size(): number {
    return this.#heap.size;
  }

  push(node: DagNode): void {
    this.#changes++;
    this.#heap.push(node);
  }

  remove(node: DagNode): void {
    this.#changes++;
    this.#heap.removeAt(node.slot);
  }

  peek(): DagNode | undefined {
    return this.#heap.at(0);
  }

  /** In order, lazily. The queue may change meanwhile: the walk goes on after the last node it gave. */
  *inOrder(): Generator<DagNode, undefined> {
    let last: { readonly priority: number; readonly rank: number } | undefined;
    for (let next = this.#next(last, this.#frontier()); next; ) {
      const { node, frontier } = next;
      last = { priority: node.priority, rank: node.rank };
      const changes = this.#changes;
      yield node;
      next = this.#next(last, changes === this.#changes ? frontier : this.#frontier());
    }
  }

  /** Positions whose parents have been given; the first of them is next. */
  #frontier(): Heap<number> {
    const frontier = new Heap<number>((a, b) => isBefore(this.#heap.at(a)!, this.#heap.at(b)!));
    if (this.#heap.size > 0) frontier.push(0);
    return frontier;
  }

  #next(last: { readonly priority: number; readonly rank: number } | undefined, frontier: Heap<number>) {
    for (let position = frontier.pop(); position !== undefined; position = frontier.pop()) {
      const node = this.#heap.at(position)!;
      for (const child of [2 * position + 1, 2 * position + 2])
        if (child < this.#heap.size) frontier.push(child);
      const isLater =
        last === undefined ||
        (node.priority === last.priority ? node.rank > last.rank : node.priority > last.priority);
      if (isLater) return { node, frontier };
    }
    return undefined;
  }
}

type NodeOrder =
  | { readonly is: "order"; readonly nodes: readonly DagNode[] }
  /** Each node of the cycle waits for the next, the last for the first. */
  | { readonly is: "cycle"; readonly nodes: readonly DagNode[] };

/**
 * Of all nodes whose dependencies are behind it, the one inserted first comes next. `holdsUp` tells which nodes others
 * wait for: not those that never arrived, and not settled ones if the caller says so.
 */
export function topologicalOrder(nodes: readonly DagNode[], holdsUp: (node: DagNode) => boolean): NodeOrder {
  const left = new Map<DagNode, number>();
  const free = new Heap<DagNode>((a, b) => a.rank < b.rank);
  for (const node of nodes) {
    const waits = node.after.filter(holdsUp).length;
    if (waits === 0) free.push(node);
    else left.set(node, waits);
  }
  const order: DagNode[] = [];
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    order.push(node);
    for (const next of holdsUp(node) ? (node.dependents ?? []) : []) {
      const waits = left.get(next)! - 1;
      left.set(next, waits);
      if (waits > 0) continue;
      left.delete(next);
      free.push(next);
    }
  }
  return left.size === 0 ? { is: "order", nodes: order } : { is: "cycle", nodes: cycleIn(left, holdsUp) };
}

/** Every node that was left over waits for another such node, so walking up must come round. */
function cycleIn(
  left: ReadonlyMap<DagNode, number>,
  holdsUp: (node: DagNode) => boolean,
): readonly DagNode[] {
  const path = new Set<DagNode>();
  let node: DagNode = left.keys().next().value!;
  while (!path.has(node)) {
    path.add(node);
    node = node.after.find((other) => left.has(other) && holdsUp(other))!;
  }
  const cycle = [...path].slice([...path].indexOf(node));
  const first = cycle.reduce((best, one, at) => (one.rank < cycle[best]!.rank ? at : best), 0);
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
