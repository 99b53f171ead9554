/** The DAG itself, its nodes being numbers: for callers that cannot afford to look an id up at every step. */
import { NONE, NodeTable } from "./node-table.ts";
import { ReadyQueue } from "./ready-queue.ts";
import { type Order, topologicalOrder } from "./topological-order.ts";

/** Named as a dependency, not added (yet): what a new row of the table holds. */
export const MISSING = 0;
export const WAITING = 1;
export const READY = 2;
export const TAKEN = 3;
export const DONE = 4;
export const DEAD = 5;
export const STATUS_NAMES = ["missing", "waiting", "ready", "taken", "done", "dead"] as const;

export const DEFAULT_PRIORITY = 5;
export const DEFAULT_LANE = 0;
/** Lanes are kinds of work: a handful. */
const MAX_LANE = 1023;

const NOTHING: readonly number[] = Object.freeze([]);

export class NumberedDag {
  readonly #table = new NodeTable();
  readonly #lanes: (ReadyQueue | undefined)[] = [];
  readonly #nameOf: (node: number) => string;
  #added = 0;
  /** Edges to a dependency that came later than its dependent, or never: without any, insertion order is topological. */
  #lateEdges = 0;

  constructor(nameOf: (node: number) => string) {
    this.#nameOf = nameOf;
  }

  get size(): number {
    return this.#added;
  }

  /** A number for a node that is named for the first time. */
  name(): number {
    return this.#table.newNode();
  }

  status(node: number): number {
    return this.#table.status[node]!;
  }

  /** The nodes in insertion order. */
  inserted(): Int32Array {
    return this.#table.byRank.subarray(0, this.#added);
  }

  /** The first of three steps to add a node; `dependOn` follows for each dependency, then `enter`. */
  open(node: number, priority: number = DEFAULT_PRIORITY, lane: number = DEFAULT_LANE): void {
    const table = this.#table;
    if (table.status[node] !== MISSING) throw new Error(`node "${this.#nameOf(node)}" was added before`);
    this.#place(node, priority, lane);
    table.rank[node] = this.#added;
    table.byRank[this.#added++] = node;
    table.firstIn[node] = table.edges;
  }

  dependOn(node: number, dependency: number): void {
    const table = this.#table;
    if (!table.newEdge(dependency, node)) return;
    table.inCount[node]!++;
    const status = table.status[dependency]!;
    if (status === MISSING) this.#lateEdges++;
    if (status !== DONE) table.unmet[node]!++;
  }

  /** Gives the node its first status: what its dependencies make it, or `as`. Returns the nodes that this changed. */
  enter(node: number, as?: typeof DONE | typeof DEAD): readonly number[] {
    const status = as ?? this.#fateOf(node);
    this.#table.status[node] = status;
    if (status === READY) this.#enqueue(node);
    return status === DEAD ? this.#killBelow(node) : status === DONE ? this.#unlock(node) : NOTHING;
  }

  queue(lane: number = DEFAULT_LANE): ReadyQueue | undefined {
    return this.#lanes[lane];
  }

  take(node: number): void {
    if (this.#table.status[node] !== READY) throw this.#forbidden(node, TAKEN);
    this.#unqueue(node);
    this.#table.status[node] = TAKEN;
  }

  release(node: number, priority?: number, lane?: number): void {
    const table = this.#table;
    if (table.status[node] !== TAKEN) throw this.#forbidden(node, READY);
    this.#place(node, priority ?? table.priority[node]!, lane ?? table.lane[node]!);
    this.#enqueue(node);
  }

  complete(node: number): readonly number[] {
    const before = this.#table.status[node];
    if (before !== READY && before !== TAKEN) throw this.#forbidden(node, DONE);
    if (before === READY) this.#unqueue(node);
    this.#table.status[node] = DONE;
    return this.#unlock(node);
  }

  fail(node: number): readonly number[] {
    const before = this.#table.status[node];
    if (before === DONE || before === DEAD) throw this.#forbidden(node, DEAD);
    if (before === READY) this.#unqueue(node);
    this.#table.status[node] = DEAD;
    return this.#killBelow(node);
  }

  downstream(root: number): readonly number[] {
    const { firstOut, nextOut, dependent, status } = this.#table;
    const found = new Set([root]);
    for (const node of found) {
      for (let edge = firstOut[node]!; edge !== NONE; edge = nextOut[edge]!) found.add(dependent[edge]!);
    }
    found.delete(root);
    return [...found].filter((node) => status[node] !== DONE && status[node] !== DEAD);
  }

  dependencies(node: number): Int32Array {
    const { firstIn, inCount, dependency } = this.#table;
    return dependency.subarray(firstIn[node]!, firstIn[node]! + inCount[node]!);
  }

  /** Calls back for every edge whose dependency was never added. */
  eachMissing(visit: (dependency: number, dependent: number) => void): void {
    const { nodes, edges, dependency, dependent, status } = this.#table;
    if (this.#added === nodes) return;
    for (let edge = 0; edge < edges; edge++) {
      if (status[dependency[edge]!] === MISSING) visit(dependency[edge]!, dependent[edge]!);
    }
  }

  order(): Order {
    const table = this.#table;
    if (this.#lateEdges === 0) return { is: "order", nodes: this.inserted() };
    return topologicalOrder(table, this.#added, (node) => table.status[node] !== MISSING);
  }

  /** As `order`, but what is settled holds nothing up. */
  openOrder(): Order {
    const table = this.#table;
    const { status } = table;
    return topologicalOrder(
      table,
      this.#added,
      (node) => status[node] === WAITING || status[node] === READY || status[node] === TAKEN,
    );
  }

  #place(node: number, priority: number, lane: number): void {
    if (Number.isNaN(priority))
      throw new Error(`node "${this.#nameOf(node)}" has a priority that is not a number`);
    if (!Number.isInteger(lane) || lane < 0 || lane > MAX_LANE) {
      throw new Error(
        `node "${this.#nameOf(node)}" has lane ${lane}; lanes are whole numbers from 0 to ${MAX_LANE}`,
      );
    }
    this.#table.priority[node] = priority;
    this.#table.lane[node] = lane;
  }

  #fateOf(node: number): number {
    const { unmet, firstIn, inCount, dependency, status } = this.#table;
    if (unmet[node] === 0) return READY;
    const end = firstIn[node]! + inCount[node]!;
    for (let edge = firstIn[node]!; edge < end; edge++) {
      if (status[dependency[edge]!] === DEAD) return DEAD;
    }
    return WAITING;
  }

  /** The linked list is in insertion order, so what it frees is, too. */
  #unlock(node: number): readonly number[] {
    const { firstOut, nextOut, dependent, unmet, status } = this.#table;
    let freed: number[] | undefined;
    for (let edge = firstOut[node]!; edge !== NONE; edge = nextOut[edge]!) {
      const next = dependent[edge]!;
      if (--unmet[next]! > 0 || status[next] !== WAITING) continue;
      this.#enqueue(next);
      if (freed === undefined) freed = [next];
      else freed.push(next);
    }
    return freed ?? NOTHING;
  }

  #killBelow(root: number): readonly number[] {
    if (this.#table.firstOut[root] === NONE) return NOTHING;
    const dead: number[] = [];
    this.#killDependents(root, dead);
    for (const node of dead) this.#killDependents(node, dead);
    return dead;
  }

  /** Below a node that is not done, only waiting nodes can be alive. */
  #killDependents(node: number, dead: number[]): void {
    const { firstOut, nextOut, dependent, status } = this.#table;
    for (let edge = firstOut[node]!; edge !== NONE; edge = nextOut[edge]!) {
      const next = dependent[edge]!;
      if (status[next] !== WAITING) continue;
      status[next] = DEAD;
      dead.push(next);
    }
  }

  #enqueue(node: number): void {
    const lane = this.#table.lane[node]!;
    let queue = this.#lanes[lane];
    if (queue === undefined) {
      queue = new ReadyQueue(this.#table);
      this.#lanes[lane] = queue;
    }
    this.#table.status[node] = READY;
    queue.push(node);
  }

  #unqueue(node: number): void {
    this.#lanes[this.#table.lane[node]!]!.remove(node);
  }

  #forbidden(node: number, wanted: number): Error {
    const { [this.status(node)]: is, [wanted]: becomes } = STATUS_NAMES;
    return new Error(`node "${this.#nameOf(node)}" cannot become ${becomes}: it is ${is}`);
  }
}
