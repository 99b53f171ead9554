/** Which nodes of a growing graph can run now, and in which order could all? The door to the parts of the graph. */
import { topologicalOrder } from "./dag-node.ts";
import { Dag, idsOf, isOpen } from "./dag-steps.ts";

export { Dag } from "./dag-steps.ts";
export { Heap } from "./heap.ts";

/** The graph has no order: each id in `cycle` waits for the next, the last for the first. */
export class CycleError extends Error {
  override readonly name = "CycleError";
  readonly cycle: string[];

  constructor(cycle: readonly string[]) {
    super(`the dependencies form a cycle: ${[...cycle, cycle[0]].join(" → ")} (each waits for the next)`);
    this.cycle = [...cycle];
  }
}

/** Apart from `Dag`: who follows a run step by step, as the web page does, needs none of it. */
export class OrderedDag extends Dag {
  dependencies(id: string): readonly string[] {
    return idsOf(this.node(id).after);
  }

  /** Dependencies that were named but never added, by the dependent's place in the insertion order. */
  missing(): readonly { readonly id: string; readonly neededBy: string }[] {
    if (this.added.length === this.nodes.size) return [];
    return this.added.flatMap(({ id: neededBy, after }) =>
      after.filter(({ status }) => status === "missing").map(({ id }) => ({ id, neededBy })),
    );
  }

  /** All nodes, dependencies first; of those that could come next, the one inserted first. Throws a `CycleError`. */
  order(): readonly string[] {
    const order = this.#order();
    if (order.is === "cycle") throw new CycleError(idsOf(order.nodes));
    return idsOf(order.nodes);
  }

  /** A cycle, if there is one: each waits for the next, the last for the first. */
  cycle(): readonly string[] | undefined {
    const order = this.#order();
    return order.is === "cycle" ? idsOf(order.nodes) : undefined;
  }

  /** A cycle among nodes that are not settled, if there is one: those will never be ready. */
  openCycle(): readonly string[] | undefined {
    if (this.lateEdges === 0) return undefined;
    const order = topologicalOrder(this.added, isOpen);
    return order.is === "cycle" ? idsOf(order.nodes) : undefined;
  }

  #order() {
    if (this.lateEdges === 0) return { is: "order", nodes: this.added } as const;
    return topologicalOrder(this.added, ({ status }) => status !== "missing");
  }
}
