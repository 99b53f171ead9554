/** Which nodes of a growing graph can run now, which wait, and which never will? */
import { DagNode, type NodeStatus, ReadyQueue } from "./dag-node.ts";

interface NodeOptions {
  /** Ids of the dependencies; they may be added later. A repeated id counts once. */
  readonly after?: readonly string[];
  /** The lower, the more urgent; 5 unless given. */
  readonly priority?: number;
  /** Which queue it joins when it is ready; 0 unless given. */
  readonly lane?: number;
  /** Adds it settled already, whatever its dependencies are: for a graph that is restored. */
  readonly as?: "done" | "dead" | undefined;
}

const DEFAULT_PRIORITY = 5;
/** Lanes are kinds of work: a handful. */
const MAX_LANE = 1023;

/**
 * A directed acyclic graph that is kept current step by step: each call costs what it changes, and a logarithm of the
 * ready nodes. Pure. An `OrderedDag` also answers in which order all could run.
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
  protected readonly nodes = new Map<string, DagNode>();
  protected readonly added: DagNode[] = [];
  readonly #lanes: (ReadyQueue | undefined)[] = [];
  /** Edges to a dependency that came later than its dependent, or never: without any, insertion order is topological. */
  protected lateEdges = 0;

  /** Nodes added; a dependency that was only named does not count. */
  get size(): number {
    return this.added.length;
  }

  /** Adds a node. A dependency may arrive later; below a dead one it is dead at once, with all that waits for it. */
  add(id: string, options: NodeOptions = {}): NodeStatus {
    this.enter(id, options);
    return this.status(id);
  }

  /** As `add`; returns the other nodes that became ready or dead by it. */
  enter(
    id: string,
    { after = [], priority = DEFAULT_PRIORITY, lane = 0, as }: NodeOptions,
  ): readonly string[] {
    const node = this.#named(id);
    if (node.status !== "missing") throw new Error(`node "${id}" was added before`);
    place(node, priority, lane);
    node.rank = this.added.push(node) - 1;
    if (after.length > 0) this.#connect(node, after);
    const status = as ?? firstStatus(node);
    node.status = status;
    if (status === "ready") this.#enqueue(node);
    return idsOf(status === "dead" ? killBelow(node) : status === "done" ? this.#unlock(node) : []);
  }

  has(id: string): boolean {
    const { status = "missing" } = this.nodes.get(id) ?? {};
    return status !== "missing";
  }

  status(id: string): NodeStatus {
    return this.node(id).status as NodeStatus;
  }

  /** Ready nodes of a lane, most urgent first, then in insertion order; lazily. Taking nodes on the way is fine. */
  *ready(lane = 0): Generator<string, undefined> {
    for (const { id } of this.#lanes[lane]?.inOrder() ?? []) yield id;
  }

  /** How many `ready(lane)` gives, without a walk through them. */
  readyCount(lane = 0): number {
    return this.#lanes[lane]?.size ?? 0;
  }

  /** The first of `ready(lane)`. */
  peek(lane = 0): string | undefined {
    return this.#lanes[lane]?.peek()?.id;
  }

  take(id: string): void {
    const node = this.node(id);
    if (node.status !== "ready") throw forbidden(node, "taken");
    this.#unqueue(node);
    node.status = "taken";
  }

  /** Gives a taken node back; in the same lane and with the same priority unless told. */
  release(id: string, options: { readonly lane?: number; readonly priority?: number } = {}): void {
    const node = this.node(id);
    if (node.status !== "taken") throw forbidden(node, "ready");
    place(node, options.priority ?? node.priority, options.lane ?? node.lane);
    this.#enqueue(node);
  }

  /** Ends a node well; returns what became ready by it, in insertion order. */
  complete(id: string): readonly string[] {
    const node = this.node(id);
    if (node.status !== "ready" && node.status !== "taken") throw forbidden(node, "done");
    if (node.status === "ready") this.#unqueue(node);
    node.status = "done";
    return idsOf(this.#unlock(node));
  }

  /** Ends a node badly; returns all that died with it, breadth first, itself left out. */
  fail(id: string): readonly string[] {
    const node = this.node(id);
    if (node.status === "done" || node.status === "dead") throw forbidden(node, "dead");
    if (node.status === "ready") this.#unqueue(node);
    node.status = "dead";
    return idsOf(killBelow(node));
  }

  /** All below a node that is not settled, breadth first. Also answers for a dependency that is still missing. */
  downstream(id: string): readonly string[] {
    const root = this.nodes.get(id);
    if (root === undefined) throw new Error(`there is no node "${id}"`);
    const found = new Set([root]);
    for (const node of found) for (const next of node.dependents ?? []) found.add(next);
    found.delete(root);
    return idsOf([...found].filter(isOpen));
  }

  #named(id: string): DagNode {
    const known = this.nodes.get(id);
    if (known !== undefined) return known;
    const node = new DagNode(id);
    this.nodes.set(id, node);
    return node;
  }

  protected node(id: string): DagNode {
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error(`there is no node "${id}"`);
    if (node.status !== "missing") return node;
    throw new Error(`node "${id}" was named as a dependency but never added`);
  }

  #connect(node: DagNode, after: readonly string[]): void {
    const dependencies = [...new Set(after)].map((id) => this.#named(id));
    node.after = dependencies;
    for (const dependency of dependencies) {
      dependency.dependents ??= [];
      dependency.dependents.push(node);
      if (dependency.status === "missing" || dependency === node) this.lateEdges++;
      if (dependency.status !== "done") node.unmet++;
    }
  }

  /** What became ready, in insertion order. */
  #unlock({ dependents = [] }: DagNode): readonly DagNode[] {
    const freed: DagNode[] = [];
    for (const next of dependents) {
      next.unmet--;
      if (next.unmet > 0 || next.status !== "waiting") continue;
      this.#enqueue(next);
      freed.push(next);
    }
    return freed;
  }

  #enqueue(node: DagNode): void {
    node.status = "ready";
    this.#lanes[node.lane] ??= new ReadyQueue();
    this.#lanes[node.lane]!.push(node);
  }

  #unqueue(node: DagNode): void {
    this.#lanes[node.lane]!.remove(node);
  }
}

export const isOpen = ({ status }: DagNode): boolean =>
  status === "waiting" || status === "ready" || status === "taken";

function firstStatus({ after, unmet }: DagNode): NodeStatus {
  if (unmet === 0) return "ready";
  return after.some(({ status }) => status === "dead") ? "dead" : "waiting";
}

/** All that died, breadth first. Below a node that is not done, only waiting nodes can be alive. */
function killBelow(root: DagNode): readonly DagNode[] {
  const dead = [root];
  for (const { dependents = [] } of dead) {
    for (const next of dependents) {
      if (next.status !== "waiting") continue;
      next.status = "dead";
      dead.push(next);
    }
  }
  return dead.slice(1);
}

function place(node: DagNode, priority: number, lane: number): void {
  if (Number.isNaN(priority)) throw new Error(`node "${node.id}" has a priority that is not a number`);
  if (!Number.isInteger(lane) || lane < 0 || lane > MAX_LANE)
    throw new Error(`node "${node.id}" has lane ${lane}; lanes are whole numbers from 0 to ${MAX_LANE}`);
  node.priority = priority;
  node.lane = lane;
}

export function idsOf(nodes: readonly DagNode[]): readonly string[] {
  return nodes.length === 0 ? NO_IDS : nodes.map(({ id }) => id);
}

const NO_IDS: readonly string[] = Object.freeze([]);

const forbidden = ({ id, status }: DagNode, wanted: NodeStatus): Error =>
  new Error(`node "${id}" cannot become ${wanted}: it is ${status}`);
