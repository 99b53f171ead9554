/** Keeps a directed acyclic graph of nodes current, step by step, for callers that hold the nodes themselves. */
import type { DagNode, NodeStatus } from "./dag-node.ts";
import { ReadyQueue } from "./ready-queue.ts";

export interface NodePlace {
  /** A lower number is more urgent; 5 unless given. */
  readonly priority?: number | undefined;
  /** The queue that it joins when it is ready; 0 unless given. */
  readonly lane?: number | undefined;
}

const DEFAULT_PRIORITY = 5;
/** Lanes are kinds of work, so there are only a few. */
const MAX_LANE = 1023;

/** Each call costs as much as it changes, and a logarithm for nodes that become ready out of order. Pure. */
export class NodeGraph<N extends DagNode> {
  readonly #make: (id: string) => N;
  readonly #nodes = new Map<string, N>();
  readonly #added: N[] = [];
  readonly #lanes: (ReadyQueue<N> | undefined)[] = [];
  #lateEdges = 0;

  constructor(make: (id: string) => N) {
    this.#make = make;
  }

  /** The added nodes in order; a dependency that was only named does not count. */
  get added(): readonly N[] {
    return this.#added;
  }

  /** True if every dependency was added before its dependents: the insertion order is then topological. */
  get isInOrder(): boolean {
    return this.#lateEdges === 0;
  }

  find(id: string): N | undefined {
    const node = this.#nodes.get(id);
    return node === undefined || node.state === "missing" ? undefined : node;
  }

  get(id: string): N {
    const node = this.#nodes.get(id);
    if (node === undefined) throw unknown(id);
    if (node.state !== "missing") return node;
    throw new Error(`node "${id}" was named as a dependency but never added`);
  }

  /** The node of that id, created as "missing" if it does not exist yet. */
  named(id: string): N {
    const known = this.#nodes.get(id);
    if (known !== undefined) return known;
    const node = this.#make(id);
    this.#nodes.set(id, node);
    return node;
  }

  /** Adds a named node, already settled if `as` says so; returns the other nodes that became ready or dead by it. */
  enter(node: N, after: readonly string[], at: NodePlace, as?: "done" | "dead"): readonly N[] {
    if (node.state !== "missing") throw new Error(`node "${node.id}" was added before`);
    place(node, at.priority ?? DEFAULT_PRIORITY, at.lane ?? 0);
    node.rank = this.#added.push(node) - 1;
    node.after = after;
    const first = this.#connect(node, after);
    const state = as ?? first;
    node.state = state;
    if (state === "ready") this.#enqueue(node);
    return state === "dead" ? killBelow(node) : state === "done" ? this.#unlock(node) : NONE;
  }

  /**
   * The ready nodes of a lane, most urgent first, then in insertion order; lazily. Nodes may be taken during the
   * iteration.
   */
  ready(lane = 0): Iterable<N> {
    return this.#lanes[lane]?.inOrder() ?? NONE;
  }

  /** The number of nodes that `ready(lane)` gives, without iterating. */
  readyCount(lane = 0): number {
    return this.#lanes[lane]?.size ?? 0;
  }

  /** The first of `ready(lane)`. */
  peek(lane = 0): N | undefined {
    return this.#lanes[lane]?.peek();
  }

  take(node: N): void {
    if (node.state !== "ready") throw forbidden(node, "taken");
    this.#unqueue(node);
    node.state = "taken";
  }

  /** Gives a taken node back, in the same lane and with the same priority unless `NodePlace` says otherwise. */
  release(node: N, { lane = node.lane, priority = node.priority }: NodePlace = {}): void {
    if (node.state !== "taken") throw forbidden(node, "ready");
    place(node, priority, lane);
    this.#enqueue(node);
  }

  /** Completes a node; returns the nodes that became ready, in insertion order. */
  complete(node: N): readonly N[] {
    if (node.state !== "ready" && node.state !== "taken") throw forbidden(node, "done");
    if (node.state === "ready") this.#unqueue(node);
    node.state = "done";
    return this.#unlock(node);
  }

  /** Fails a node; returns the other nodes that died with it, breadth first. */
  fail(node: N): readonly N[] {
    if (node.state === "done" || node.state === "dead") throw forbidden(node, "dead");
    if (node.state === "ready") this.#unqueue(node);
    node.state = "dead";
    return killBelow(node);
  }

  /**
   * All direct and indirect dependents that are not settled, breadth first. Also works for a dependency that is still
   * missing.
   */
  downstream(id: string): readonly N[] {
    const root = this.#nodes.get(id);
    if (root === undefined) throw unknown(id);
    const found = new Set([root]);
    for (const node of found) for (const next of node.dependents ?? []) found.add(next);
    found.delete(root);
    return [...found].filter(isOpen);
  }

  /** Dependencies that were named but never added, in the insertion order of their dependents. */
  missing(): readonly { readonly id: string; readonly neededBy: N }[] {
    if (this.#added.length === this.#nodes.size) return [];
    return this.#added.flatMap((neededBy) =>
      [...new Set(neededBy.after)]
        .filter((id) => this.named(id).state === "missing")
        .map((id) => ({ id, neededBy })),
    );
  }

  /** Links the node to its dependencies; returns its first state. */
  #connect(node: N, after: readonly string[]): "ready" | "waiting" | "dead" {
    let isDead = false;
    for (const id of after) {
      const dependency = this.named(id);
      const { dependents } = dependency;
      if (dependents !== undefined && dependents[dependents.length - 1] === node) continue;
      dependency.dependents = withLast(dependents, node);
      if (dependency.state === "missing") this.#lateEdges++;
      if (dependency.state === "dead") isDead = true;
      if (dependency.state !== "done") node.unmet++;
    }
    return isDead ? "dead" : node.unmet === 0 ? "ready" : "waiting";
  }

  /** The nodes that became ready, in insertion order. */
  #unlock({ dependents }: N): readonly N[] {
    if (dependents === undefined) return NONE;
    let freed: N[] | undefined;
    for (const next of dependents) {
      next.unmet--;
      if (next.unmet > 0 || next.state !== "waiting") continue;
      this.#enqueue(next);
      freed = withLast(freed, next);
    }
    return freed ?? NONE;
  }

  #enqueue(node: N): void {
    node.state = "ready";
    this.#lanes[node.lane] ??= new ReadyQueue();
    this.#lanes[node.lane]!.push(node);
  }

  #unqueue(node: N): void {
    this.#lanes[node.lane]!.remove(node);
  }
}

const NONE: readonly never[] = Object.freeze([]);

/** Most lists stay short. As literals they take just their room: `push` makes room for 16 more at once. */
function withLast<N>(list: N[] | undefined, last: N): N[] {
  if (list === undefined) return [last];
  if (list.length === 1) return [list[0]!, last];
  if (list.length === 2) return [list[0]!, list[1]!, last];
  list.push(last);
  return list;
}

const unknown = (id: string): Error => new Error(`there is no node "${id}"`);

export const isOpen = ({ state }: DagNode): boolean =>
  state === "waiting" || state === "ready" || state === "taken";

/** The nodes that died, breadth first. Below a node that is not done, only waiting nodes can be alive. */
function killBelow<N extends DagNode>(root: N): readonly N[] {
  const dead: N[] = [root];
  for (const { dependents } of dead) {
    for (const next of dependents ?? NONE) {
      if (next.state !== "waiting") continue;
      next.state = "dead";
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

const forbidden = ({ id, state }: DagNode, wanted: NodeStatus): Error =>
  new Error(`node "${id}" cannot become ${wanted}: it is ${state}`);
