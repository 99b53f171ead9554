/** Tells by id which nodes of a growing graph can run now, which wait, and which never will. */
import { DagNode, NO_IDS, type NodeStatus } from "./dag-node.ts";
import { NodeGraph, type NodePlace } from "./node-graph.ts";

interface NodeOptions extends NodePlace {
  /** Ids of the dependencies; they may be added later. A repeated id counts once. */
  readonly after?: readonly string[];
  /** Adds it settled already, whatever its dependencies are: for a graph that is restored. */
  readonly as?: "done" | "dead" | undefined;
}

/**
 * A directed acyclic graph that is kept current step by step. Pure. An `OrderedDag` also answers in which order all
 * could run.
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

  /** Nodes added; a dependency that was only named does not count. */
  get size(): number {
    return this.graph.added.length;
  }

  /** Adds a node. A dependency may arrive later; below a dead one it is dead at once, with all that waits for it. */
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

  /** Ready nodes of a lane, most urgent first, then in insertion order; lazily. Taking nodes on the way is fine. */
  *ready(lane = 0): Generator<string, undefined> {
    for (const { id } of this.graph.ready(lane)) yield id;
  }

  /** How many `ready(lane)` gives, without a walk through them. */
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

  /** Gives a taken node back; in the same lane and with the same priority unless told. */
  release(id: string, place: NodePlace = {}): void {
    this.graph.release(this.graph.get(id), place);
  }

  /** Ends a node well; returns what became ready by it, in insertion order. */
  complete(id: string): readonly string[] {
    return idsOf(this.graph.complete(this.graph.get(id)));
  }

  /** Ends a node badly; returns all that died with it, breadth first, itself left out. */
  fail(id: string): readonly string[] {
    return idsOf(this.graph.fail(this.graph.get(id)));
  }

  /** All below a node that is not settled, breadth first. Also answers for a dependency that is still missing. */
  downstream(id: string): readonly string[] {
    return idsOf(this.graph.downstream(id));
  }
}

export function idsOf(nodes: readonly DagNode[]): readonly string[] {
  return nodes.length === 0 ? NO_IDS : nodes.map(({ id }) => id);
}
