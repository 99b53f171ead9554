/** Adds a topological order, missing dependencies and cycles to `Dag`, and exports the parts of the graph. */
import { Dag, idsOf } from "./dag-steps.ts";
import { openCycleOf, orderOf } from "./topological-order.ts";

export { Dag } from "./dag-steps.ts";
export { Heap } from "./heap.ts";

/** The graph has a cycle: each id in `cycle` waits for the next, the last for the first. */
export class CycleError extends Error {
  override readonly name = "CycleError";
  readonly cycle: string[];

  constructor(cycle: readonly string[]) {
    super(`the dependencies form a cycle: ${[...cycle, cycle[0]].join(" → ")} (each waits for the next)`);
    this.cycle = [...cycle];
  }
}

/** Separate from `Dag`, because a reader that follows a run step by step, such as the web page, needs none of it. */
export class OrderedDag extends Dag {
  dependencies(id: string): readonly string[] {
    return [...new Set(this.graph.get(id).after)];
  }

  /** Dependencies that were named but never added, in the insertion order of their dependents. */
  missing(): readonly { readonly id: string; readonly neededBy: string }[] {
    return this.graph.missing().map(({ id, neededBy }) => ({ id, neededBy: neededBy.id }));
  }

  /** All nodes, dependencies first, otherwise in insertion order. Throws a `CycleError`. */
  order(): readonly string[] {
    const order = orderOf(this.graph);
    if (order.is === "cycle") throw new CycleError(idsOf(order.nodes));
    return idsOf(order.nodes);
  }

  /** A cycle, if there is one: each waits for the next, the last for the first. */
  cycle(): readonly string[] | undefined {
    const order = orderOf(this.graph);
    return order.is === "cycle" ? idsOf(order.nodes) : undefined;
  }

  /** A cycle among nodes that are not settled, if there is one: those will never be ready. */
  openCycle(): readonly string[] | undefined {
    const cycle = openCycleOf(this.graph);
    return cycle && idsOf(cycle);
  }
}
