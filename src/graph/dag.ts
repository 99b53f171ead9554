/** Which nodes of a growing graph can run now, which wait, and which never will? */
import { DEAD, DONE, MISSING, NumberedDag, STATUS_NAMES } from "./numbered-dag.ts";

/**
 * ```
 *  add ─→ waiting ─last dependency done─→ ready ─take─→ taken ─complete─→ done
 *            │                             │ ↑           │ │
 *            │                             │ └──release──┘ │        (ready may complete, too)
 *            └──────────── fail, or a dependency died ─────┴─→ dead
 * ```
 */
export type NodeStatus = "waiting" | "ready" | "taken" | "done" | "dead";

export interface NodeOptions {
  /** Ids of the dependencies; they may be added later. A repeated id counts once. */
  readonly after?: readonly string[];
  /** The lower, the more urgent; 5 unless given. */
  readonly priority?: number;
  /** Which queue it joins when it is ready; 0 unless given. */
  readonly lane?: number;
  /** Adds it settled already, whatever its dependencies are: for a graph that is restored. */
  readonly as?: "done" | "dead";
}

/** The graph has no order: each id in `cycle` waits for the next, the last for the first. */
export class CycleError extends Error {
  override readonly name = "CycleError";
  readonly cycle: string[];

  constructor(cycle: readonly string[]) {
    super(`the dependencies form a cycle: ${[...cycle, cycle[0]].join(" → ")} (each waits for the next)`);
    this.cycle = [...cycle];
  }
}

/**
 * A directed acyclic graph that is kept current step by step: each call costs what it changes, a whole
 * execution O(nodes + edges), plus a logarithm for nodes that become ready out of order. Pure.
 *
 * ```ts
 * const dag = new Dag();
 * dag.add("build");
 * dag.add("test", { after: ["build"] });
 * dag.take("build");
 * dag.complete("build"); // ["test"]
 * ```
 */
export class Dag {
  readonly #ids: string[] = [];
  readonly #nodeOf = new Map<string, number>();
  /** The same graph by number, without a look-up at every step. */
  readonly numbered: NumberedDag = new NumberedDag((node) => this.#ids[node]!);

  /** Nodes added; a dependency that was only named does not count. */
  get size(): number {
    return this.numbered.size;
  }

  /** Adds a node. A dependency may arrive later; below a dead one it is dead at once, with all that waits for it. */
  add(id: string, options: NodeOptions = {}): NodeStatus {
    const node = this.name(id);
    this.numbered.open(node, options.priority, options.lane);
    for (const other of options.after ?? []) this.numbered.dependOn(node, this.name(other));
    this.numbered.enter(node, options.as && (options.as === "done" ? DONE : DEAD));
    return this.#statusOf(node);
  }

  /** The number of an id, whether it was added or only named; it gets one if it is new. */
  name(id: string): number {
    const known = this.#nodeOf.get(id);
    if (known !== undefined) return known;
    const node = this.numbered.name();
    this.#nodeOf.set(id, node);
    this.#ids.push(id);
    return node;
  }

  /** The number of an id, if it was added. */
  find(id: string): number | undefined {
    const node = this.#nodeOf.get(id);
    return node === undefined || this.numbered.status(node) === MISSING ? undefined : node;
  }

  has(id: string): boolean {
    return this.find(id) !== undefined;
  }

  status(id: string): NodeStatus {
    return this.#statusOf(this.#node(id));
  }

  /** Ready nodes of a lane, most urgent first, then in insertion order; lazily. Taking nodes on the way is fine. */
  *ready(lane?: number): Generator<string, undefined> {
    const queue = this.numbered.queue(lane);
    if (queue === undefined) return;
    for (const node of queue.inOrder()) yield this.#ids[node]!;
  }

  /** The first of `ready(lane)`. */
  peek(lane?: number): string | undefined {
    const node = this.numbered.queue(lane)?.peek();
    return node === undefined ? undefined : this.#ids[node];
  }

  take(id: string): void {
    this.numbered.take(this.#node(id));
  }

  /** Gives a taken node back; in the same lane and with the same priority unless told. */
  release(id: string, options: { readonly lane?: number; readonly priority?: number } = {}): void {
    this.numbered.release(this.#node(id), options.priority, options.lane);
  }

  /** Ends a node well; returns what became ready by it, in insertion order. */
  complete(id: string): readonly string[] {
    return this.#named(this.numbered.complete(this.#node(id)));
  }

  /** Ends a node badly; returns all that died with it, breadth first, itself left out. */
  fail(id: string): readonly string[] {
    return this.#named(this.numbered.fail(this.#node(id)));
  }

  /** All below a node that is not settled, breadth first. Also answers for a dependency that is still missing. */
  downstream(id: string): readonly string[] {
    const node = this.#nodeOf.get(id);
    if (node === undefined) throw new Error(`there is no node "${id}"`);
    return this.#named(this.numbered.downstream(node));
  }

  dependencies(id: string): readonly string[] {
    return this.#named(this.numbered.dependencies(this.#node(id)));
  }

  /** Dependencies that were named but never added, by the dependent's place in the insertion order. */
  missing(): readonly { readonly id: string; readonly neededBy: string }[] {
    const found: { readonly id: string; readonly neededBy: string }[] = [];
    this.numbered.eachMissing((dependency, dependent) => {
      found.push({ id: this.#ids[dependency]!, neededBy: this.#ids[dependent]! });
    });
    return found;
  }

  /** All nodes, dependencies first; of those that could come next, the one inserted first. */
  order(): readonly string[] {
    return this.#named(this.numberedOrder());
  }

  numberedOrder(): Int32Array {
    const order = this.numbered.order();
    if (order.is === "cycle") throw new CycleError(this.#named(order.nodes));
    return order.nodes;
  }

  /** A cycle, if there is one: each waits for the next, the last for the first. */
  cycle(): readonly string[] | undefined {
    const order = this.numbered.order();
    return order.is === "cycle" ? this.#named(order.nodes) : undefined;
  }

  /** A cycle among nodes that are not settled, if there is one: those will never be ready. */
  openCycle(): readonly string[] | undefined {
    // Nearly every graph has no cycle at all, and one predicate in the sort is faster than two.
    if (this.numbered.order().is === "order") return undefined;
    const order = this.numbered.openOrder();
    return order.is === "cycle" ? this.#named(order.nodes) : undefined;
  }

  #node(id: string): number {
    const node = this.#nodeOf.get(id);
    if (node === undefined) throw new Error(`there is no node "${id}"`);
    if (this.numbered.status(node) !== MISSING) return node;
    throw new Error(`node "${id}" was named as a dependency but never added`);
  }

  #named(nodes: Int32Array | readonly number[]): readonly string[] {
    if (nodes.length === 0) return NO_IDS;
    const ids: string[] = [];
    // Not `Array.from` with a function: that was 3.5 % of replaying a log.
    for (let at = 0; at < nodes.length; at++) ids.push(this.#ids[nodes[at]!]!);
    return ids;
  }

  #statusOf(node: number): NodeStatus {
    const name = STATUS_NAMES[this.numbered.status(node)];
    if (name === undefined || name === "missing") throw new Error(`node ${node} was not added`);
    return name;
  }
}

const NO_IDS: readonly string[] = Object.freeze([]);
