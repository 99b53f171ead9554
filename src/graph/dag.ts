/** Which nodes of a growing graph can run now, which wait, and which never will? */
import { NONE, NodeTable } from "./node-table.ts";
import { ReadyQueue } from "./ready-queue.ts";
import { type Order, topologicalOrder } from "./topological-order.ts";

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
  readonly #table = new NodeTable();
  readonly #ids: string[] = [];
  readonly #nodeOf = new Map<string, number>();
  readonly #lanes = new Map<number, ReadyQueue>();
  #added = 0;
  /** Edges to a dependency that was added later than its dependent, or never; without any, insertion order is topological. */
  #lateEdges = 0;

  /** Nodes added; a dependency that was only named does not count. */
  get size(): number {
    return this.#added;
  }

  /** Adds a node. A dependency may arrive later; below a dead one it is dead at once, with all that waits for it. */
  add(id: string, options: NodeOptions = {}): NodeStatus {
    const priority = options.priority ?? DEFAULT_PRIORITY;
    const lane = options.lane ?? DEFAULT_LANE;
    checkPriority(id, priority);
    checkLane(id, lane);
    const node = this.#nodeNamed(id);
    if (this.#table.status[node] !== MISSING) throw new Error(`node "${id}" was added before`);
    const table = this.#table;
    table.priority[node] = priority;
    table.lane[node] = lane;
    table.rank[node] = this.#added;
    table.byRank[this.#added++] = node;
    const fate = this.#connect(node, options.after ?? NOTHING);
    return this.#enter(node, options.as === "done" ? DONE : options.as === "dead" ? DEAD : fate);
  }

  has(id: string): boolean {
    const node = this.#nodeOf.get(id);
    return node !== undefined && this.#table.status[node] !== MISSING;
  }

  status(id: string): NodeStatus {
    return this.#statusOf(this.#node(id));
  }

  /** Ready nodes of a lane, most urgent first, then in insertion order; lazily. Taking nodes on the way is fine. */
  *ready(lane: number = DEFAULT_LANE): Generator<string, undefined> {
    const queue = this.#lanes.get(lane);
    if (queue === undefined) return;
    for (const node of queue.inOrder()) yield this.#ids[node]!;
  }

  /** The first of `ready(lane)`. */
  peek(lane: number = DEFAULT_LANE): string | undefined {
    const node = this.#lanes.get(lane)?.peek();
    return node === undefined ? undefined : this.#ids[node];
  }

  take(id: string): void {
    const node = this.#node(id);
    if (this.#table.status[node] !== READY) throw this.#forbidden(node, "taken");
    this.#unqueue(node);
    this.#table.status[node] = TAKEN;
  }

  /** Gives a taken node back; in the same lane and with the same priority unless told. */
  release(id: string, options: { readonly lane?: number; readonly priority?: number } = {}): void {
    const node = this.#node(id);
    if (this.#table.status[node] !== TAKEN) throw this.#forbidden(node, "ready");
    const priority = options.priority ?? this.#table.priority[node]!;
    const lane = options.lane ?? this.#table.lane[node]!;
    checkPriority(id, priority);
    checkLane(id, lane);
    this.#table.priority[node] = priority;
    this.#table.lane[node] = lane;
    this.#enqueue(node);
  }

  /** Ends a node well; returns what became ready by it, in insertion order. */
  complete(id: string): readonly string[] {
    const node = this.#node(id);
    const before = this.#table.status[node];
    if (before !== READY && before !== TAKEN) throw this.#forbidden(node, "done");
    if (before === READY) this.#unqueue(node);
    this.#table.status[node] = DONE;
    return this.#unlock(node);
  }

  /** Ends a node badly; returns all that died with it, breadth first, itself left out. */
  fail(id: string): readonly string[] {
    const node = this.#node(id);
    const before = this.#table.status[node];
    if (before === DONE || before === DEAD) throw this.#forbidden(node, "dead");
    if (before === READY) this.#unqueue(node);
    this.#table.status[node] = DEAD;
    return this.#killBelow(node);
  }

  /** All below a node that is not settled, breadth first. Also answers for a dependency that is still missing. */
  downstream(id: string): readonly string[] {
    const root = this.#nodeOf.get(id);
    if (root === undefined) throw unknown(id);
    const { firstOut, nextOut, dependent, status } = this.#table;
    const found = new Set([root]);
    for (const node of found) {
      for (let edge = firstOut[node]!; edge !== NONE; edge = nextOut[edge]!) found.add(dependent[edge]!);
    }
    found.delete(root);
    return this.#named([...found].filter((node) => status[node] !== DONE && status[node] !== DEAD));
  }

  dependencies(id: string): readonly string[] {
    const node = this.#node(id);
    const { firstIn, inCount, dependency } = this.#table;
    const from = firstIn[node]!;
    return Array.from(dependency.subarray(from, from + inCount[node]!), (other) => this.#ids[other]!);
  }

  /** Dependencies that were named but never added, by the dependent's place in the insertion order. */
  missing(): readonly { readonly id: string; readonly neededBy: string }[] {
    const found: { readonly id: string; readonly neededBy: string }[] = [];
    if (this.#added === this.#table.nodes) return found;
    const { edges, dependency, dependent, status } = this.#table;
    for (let edge = 0; edge < edges; edge++) {
      if (status[dependency[edge]!] !== MISSING) continue;
      found.push({ id: this.#ids[dependency[edge]!]!, neededBy: this.#ids[dependent[edge]!]! });
    }
    return found;
  }

  /** All nodes, dependencies first; of those that could come next, the one inserted first. */
  order(): readonly string[] {
    const order = this.#order();
    if (order.is === "cycle") throw new CycleError(this.#named(order.nodes));
    return this.#named(order.nodes);
  }

  /** A cycle, if there is one: each waits for the next, the last for the first. */
  cycle(): readonly string[] | undefined {
    if (this.#lateEdges === 0) return undefined;
    const order = this.#order();
    return order.is === "cycle" ? this.#named(order.nodes) : undefined;
  }

  #order(): Order {
    const table = this.#table;
    if (this.#lateEdges === 0) return { is: "order", nodes: table.byRank.subarray(0, this.#added) };
    return topologicalOrder(table, this.#added, (node) => table.status[node] !== MISSING);
  }

  /** Links a node to its dependencies and counts the unmet ones; returns the state that follows. */
  #connect(node: number, after: readonly string[]): number {
    const table = this.#table;
    const from = table.edges;
    let unmet = 0;
    let isDoomed = false;
    for (const id of after) {
      const dependency = this.#nodeNamed(id);
      if (!table.newEdge(dependency, node)) continue;
      const status = table.status[dependency]!;
      if (status === MISSING) this.#lateEdges++;
      if (status === DEAD) isDoomed = true;
      if (status !== DONE) unmet++;
    }
    table.firstIn[node] = from;
    table.inCount[node] = table.edges - from;
    table.unmet[node] = unmet;
    return isDoomed ? DEAD : unmet === 0 ? READY : WAITING;
  }

  /** Gives a new node its first state, and lets its dependents, which may have come earlier, know. */
  #enter(node: number, status: number): NodeStatus {
    this.#table.status[node] = status;
    if (status === READY) this.#enqueue(node);
    else if (status === DEAD) this.#killBelow(node);
    else if (status === DONE) this.#unlock(node);
    return this.#statusOf(node);
  }

  #unlock(node: number): readonly string[] {
    const { firstOut, nextOut, dependent, unmet, status } = this.#table;
    let freed: string[] | undefined;
    for (let edge = firstOut[node]!; edge !== NONE; edge = nextOut[edge]!) {
      const next = dependent[edge]!;
      if (--unmet[next]! > 0 || status[next] !== WAITING) continue;
      this.#enqueue(next);
      freed ??= [];
      freed.push(this.#ids[next]!);
    }
    return freed ?? NOTHING;
  }

  #killBelow(root: number): readonly string[] {
    if (this.#table.firstOut[root] === NONE) return NOTHING;
    const dead: number[] = [];
    const kill = (node: number): void => {
      this.#table.status[node] = DEAD;
      dead.push(node);
    };
    this.#eachWaiting(root, kill);
    for (const node of dead) this.#eachWaiting(node, kill);
    return this.#named(dead);
  }

  /** Below a node that is not done, only waiting nodes can be alive. */
  #eachWaiting(node: number, visit: (dependent: number) => void): void {
    const { firstOut, nextOut, dependent, status } = this.#table;
    for (let edge = firstOut[node]!; edge !== NONE; edge = nextOut[edge]!) {
      if (status[dependent[edge]!] === WAITING) visit(dependent[edge]!);
    }
  }

  #enqueue(node: number): void {
    const lane = this.#table.lane[node]!;
    let queue = this.#lanes.get(lane);
    if (queue === undefined) {
      queue = new ReadyQueue(this.#table);
      this.#lanes.set(lane, queue);
    }
    this.#table.status[node] = READY;
    queue.push(node);
  }

  #unqueue(node: number): void {
    this.#lanes.get(this.#table.lane[node]!)!.remove(node);
  }

  #nodeNamed(id: string): number {
    const known = this.#nodeOf.get(id);
    if (known !== undefined) return known;
    const node = this.#table.newNode();
    this.#nodeOf.set(id, node);
    this.#ids.push(id);
    return node;
  }

  #node(id: string): number {
    const node = this.#nodeOf.get(id);
    if (node === undefined) throw unknown(id);
    if (this.#table.status[node] === MISSING)
      throw new Error(`node "${id}" was named as a dependency but never added`);
    return node;
  }

  #named(nodes: Int32Array | readonly number[]): readonly string[] {
    return Array.from(nodes, (node) => this.#ids[node]!);
  }

  #statusOf(node: number): NodeStatus {
    return STATUS_NAMES[this.#table.status[node]!]!;
  }

  #forbidden(node: number, wanted: NodeStatus): Error {
    return new Error(`node "${this.#ids[node]}" cannot become ${wanted}: it is ${this.#statusOf(node)}`);
  }
}

const DEFAULT_PRIORITY = 5;
const DEFAULT_LANE = 0;
const NOTHING: readonly string[] = Object.freeze([]);

/** Named as a dependency, not added (yet): what a new row of the table holds. */
const MISSING = 0;
const WAITING = 1;
const READY = 2;
const TAKEN = 3;
const DONE = 4;
const DEAD = 5;
const STATUS_NAMES: readonly (NodeStatus | undefined)[] = [
  undefined,
  "waiting",
  "ready",
  "taken",
  "done",
  "dead",
];

function unknown(id: string): Error {
  return new Error(`there is no node "${id}"`);
}

function checkPriority(id: string, priority: number): void {
  if (Number.isNaN(priority)) throw new Error(`node "${id}" has a priority that is not a number`);
}

function checkLane(id: string, lane: number): void {
  if ((lane | 0) !== lane) throw new Error(`node "${id}" has lane ${lane}, which is not a whole number`);
}
