/** In which order could these nodes run one after the other, and if in none, which cycle is in the way? */
import { IndexHeap } from "./index-heap.ts";
import { NONE, type NodeTable } from "./node-table.ts";

export type Order =
  | { readonly is: "order"; readonly nodes: Int32Array }
  /** Each node of the cycle waits for the next, the last for the first. */
  | { readonly is: "cycle"; readonly nodes: readonly number[] };

/**
 * Of all nodes whose dependencies are behind it, the one inserted first comes next: the order in which one
 * worker would take them at equal priorities. `holdsUp` tells nodes that others wait for from those that
 * hold nothing up: dependencies that never arrived, and settled ones if the caller says so.
 *
 * A cursor walks the nodes in insertion order and takes those that are free; one that is freed behind the
 * cursor goes through a heap. So a list that is nearly in order costs no heap at all.
 */
export function topologicalOrder(table: NodeTable, added: number, holdsUp: (node: number) => boolean): Order {
  const { rank, byRank, firstOut, nextOut, dependent } = table;
  const left = countDependencies(table, holdsUp);
  const behind = new IndexHeap((a, b) => rank[a]! < rank[b]!);
  const order = new Int32Array(added);
  let length = 0;
  for (let cursor = 0; cursor < added || behind.size > 0; ) {
    const node = behind.size > 0 ? behind.pop() : byRank[cursor++]!;
    if (left[node] !== 0) continue;
    left[node] = TAKEN;
    order[length++] = node;
    if (!holdsUp(node)) continue;
    for (let edge = firstOut[node]!; edge !== NONE; edge = nextOut[edge]!) {
      const next = dependent[edge]!;
      if (--left[next]! === 0 && rank[next]! < cursor) behind.push(next);
    }
  }
  if (length === added) return { is: "order", nodes: order };
  return { is: "cycle", nodes: findCycle(table, left, { added, holdsUp }) };
}

const TAKEN = -1;

function countDependencies(table: NodeTable, holdsUp: (node: number) => boolean): Int32Array {
  const left = new Int32Array(table.nodes);
  for (let edge = 0; edge < table.edges; edge++) {
    if (holdsUp(table.dependency[edge]!)) left[table.dependent[edge]!]!++;
  }
  return left;
}

/** Every node that was left over waits for another such node, so walking up must come round. */
function findCycle(
  table: NodeTable,
  left: Int32Array,
  { added, holdsUp }: { readonly added: number; readonly holdsUp: (node: number) => boolean },
): readonly number[] {
  const { byRank, rank } = table;
  const isLeftOver = (node: number) => left[node]! > 0 && holdsUp(node);
  const seenAt = new Map<number, number>();
  const path: number[] = [];
  let node = byRank.subarray(0, added).find((candidate) => left[candidate]! > 0)!;
  while (!seenAt.has(node)) {
    seenAt.set(node, path.length);
    path.push(node);
    node = leftOverDependency(table, isLeftOver, node);
  }
  const cycle = path.slice(seenAt.get(node));
  const first = cycle.reduce((best, _, at) => (rank[cycle[at]!]! < rank[cycle[best]!]! ? at : best), 0);
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

function leftOverDependency(table: NodeTable, isLeftOver: (node: number) => boolean, node: number): number {
  const from = table.firstIn[node]!;
  for (let edge = from; edge < from + table.inCount[node]!; edge++) {
    if (isLeftOver(table.dependency[edge]!)) return table.dependency[edge]!;
  }
  throw new Error(`node ${node} was left over by the sort but waits for no other such node`);
}
