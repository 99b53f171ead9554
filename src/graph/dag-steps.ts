/** A directed acyclic graph by ids that tells which nodes can run now, which wait, and which never will. */
import { DagNode, NO_IDS, type NodeStatus } from "./dag-node.ts";
import { NodeGraph, type NodePlace } from "./node-graph.ts";

interface NodeOptions extends NodePlace {
  /** Ids of the dependencies; they may be added later. A repeated id counts once. */
  readonly after?: readonly string[];
  /** Adds it already settled, whatever its dependencies are: used to restore a graph. */
  readonly as?: "done" | "dead" | undefined;
}

/**
 * A directed acyclic graph that is updated step by step. Pure. An `OrderedDag` also gives a topological order.
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
  protected readonly graph = new NodeGraph((id) => new DagNode(id));

  /** The number of added nodes; a dependency that was only named does not count. */
  get size(): number {
    return this.graph.added.length;
  }

  /** Adds a node. A dependency may arrive later. Below a dead node it is dead at once, with its dependents. */
  add(id: string, options: NodeOptions = {}): NodeStatus {
    const node = this.graph.named(id);
    this.graph.enter(node, options.after ?? NO_IDS, options, options.as);
    return this.status(id);
  }

  has(id: string): boolean {
    return this.graph.find(id) !== undefined;
  }

  status(id: string): NodeStatus {
    return this.graph.get(id).state as NodeStatus;
  }

  /**
   * The ready nodes of a lane, most urgent first, then in insertion order; lazily. Nodes may be taken during the
   * iteration.
   */
  *ready(lane = 0): Generator<string, undefined> {
    for (const { id } of this.graph.ready(lane)) yield id;
  }

  /** The number of nodes that `ready(lane)` gives, without iterating. */
  readyCount(lane = 0): number {
    return this.graph.readyCount(lane);
  }

  /** The first of `ready(lane)`. */
  peek(lane = 0): string | undefined {
    return this.graph.peek(lane)?.id;
  }

  take(id: string): void {
    this.graph.take(this.graph.get(id));
  }

  /** Gives a taken node back, in the same lane and with the same priority unless `place` says otherwise. */
  release(id: string, place: NodePlace = {}): void {
    this.graph.release(this.graph.get(id), place);
  }

  /** Completes a node; returns the nodes that became ready, in insertion order. */
  complete(id: string): readonly string[] {
    return idsOf(this.graph.complete(this.graph.get(id)));
  }

  /** Fails a node; returns the other nodes that died with it, breadth first. */
  fail(id: string): readonly string[] {
    return idsOf(this.graph.fail(this.graph.get(id)));
  }

  /**
   * All direct and indirect dependents that are not settled, breadth first. Also works for a dependency that is still
   * missing.
   */
  downstream(id: string): readonly string[] {
    return idsOf(this.graph.downstream(id));
  }
}

export function idsOf(nodes: readonly DagNode[]): readonly string[] {
  return nodes.length === 0 ? NO_IDS : nodes.map(({ id }) => id);
}
