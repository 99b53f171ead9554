/** Sorts the nodes of a graph topologically, or finds a cycle. */
import type { DagNode } from "./dag-node.ts";
import { Heap } from "./heap.ts";
import { isOpen, type NodeGraph } from "./node-graph.ts";

type NodeOrder<N> =
  | { readonly is: "order"; readonly nodes: readonly N[] }
  /** Each node of the cycle waits for the next, the last for the first. */
  | { readonly is: "cycle"; readonly nodes: readonly N[] };

/** All nodes, dependencies first, otherwise in insertion order; or a cycle. */
export function orderOf<N extends DagNode>(graph: NodeGraph<N>): NodeOrder<N> {
  return graph.isInOrder ? { is: "order", nodes: graph.added } : sorted(graph, () => true);
}

/** A cycle among nodes that are not settled, if there is one: those will never be ready. */
export function openCycleOf<N extends DagNode>(graph: NodeGraph<N>): readonly N[] | undefined {
  const order = graph.isInOrder ? undefined : sorted(graph, isOpen);
  return order?.is === "cycle" ? order.nodes : undefined;
}

/** `holdsUp` says which nodes their dependents wait for: all nodes, or only those that are not settled. */
function sorted<N extends DagNode>(graph: NodeGraph<N>, holdsUp: (node: N) => boolean): NodeOrder<N> {
  const nodes = graph.added;
  const waits = new Int32Array(nodes.length);
  for (const node of nodes) {
    if (node.dependents === undefined || !holdsUp(node)) continue;
    for (const next of node.dependents) waits[next.rank]!++;
  }
  const free = new Heap<N>((a, b) => a.rank < b.rank);
  for (const node of nodes) if (waits[node.rank] === 0) free.push(node);
  const order: N[] = [];
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    order.push(node);
    if (node.dependents === undefined || !holdsUp(node)) continue;
    for (const next of node.dependents) if (--waits[next.rank]! === 0) free.push(next);
  }
  if (order.length === nodes.length) return { is: "order", nodes: order };
  const isLeft = (node: N) => waits[node.rank]! > 0;
  const first = nodes.find(isLeft)!;
  const isWaitedFor = (node: N) => isLeft(node) && holdsUp(node);
  return {
    is: "cycle",
    nodes: cycleFrom(first, (node) => node.after.map((id) => graph.named(id)).find(isWaitedFor)!),
  };
}

/** Every node that is left waits for another one that is left, so following these dependencies must reach a cycle. */
function cycleFrom<N extends DagNode>(start: N, above: (node: N) => N): readonly N[] {
  const path = new Set<N>();
  let node = start;
  while (!path.has(node)) {
    path.add(node);
    node = above(node);
  }
  const cycle = [...path].slice([...path].indexOf(node));
  const first = cycle.reduce((best, one, at) => (one.rank < cycle[best]!.rank ? at : best), 0);
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
