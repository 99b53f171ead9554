/** The columns of a graph: what is known of each node and each edge, in typed arrays that grow by doubling. */
export class NodeTable {
  /** Nodes known, including those that were only named as a dependency so far. */
  nodes = 0;
  edges = 0;

  status = new Uint8Array(16);
  priority = new Float64Array(16);
  lane = new Int32Array(16);
  /** The how-manieth node to be added; ties in priority are broken by it. */
  rank = new Int32Array(16);
  /** The inverse of `rank`: the nodes in insertion order. */
  byRank = new Int32Array(16);
  /** Dependencies that are not done yet. */
  unmet = new Int32Array(16);
  /** A node's dependencies are the edges `firstIn .. firstIn + inCount`: they all arrive in one `add`. */
  firstIn = new Int32Array(16);
  inCount = new Int32Array(16);
  /** A node's dependents are a linked list of edges, in insertion order of the dependents. */
  firstOut = new Int32Array(16);
  lastOut = new Int32Array(16);
  /** Where the ready queue of the node's lane holds it. */
  slot = new Int32Array(16);

  dependency = new Int32Array(16);
  dependent = new Int32Array(16);
  nextOut = new Int32Array(16);

  newNode(): number {
    if (this.nodes === this.status.length) this.#growNodes(this.nodes * 2);
    const node = this.nodes++;
    this.firstOut[node] = NONE;
    this.lastOut[node] = NONE;
    return node;
  }

  /** Adds an edge to the node that is being added; false if that node has it already. */
  newEdge(dependency: number, dependent: number): boolean {
    const last = this.lastOut[dependency]!;
    if (last !== NONE && this.dependent[last] === dependent) return false;
    if (this.edges === this.dependency.length) this.#growEdges(this.edges * 2);
    const edge = this.edges++;
    this.dependency[edge] = dependency;
    this.dependent[edge] = dependent;
    this.nextOut[edge] = NONE;
    if (last === NONE) this.firstOut[dependency] = edge;
    else this.nextOut[last] = edge;
    this.lastOut[dependency] = edge;
    return true;
  }

  #growNodes(capacity: number): void {
    this.status = grown(this.status, new Uint8Array(capacity));
    this.priority = grown(this.priority, new Float64Array(capacity));
    this.lane = grown(this.lane, new Int32Array(capacity));
    this.rank = grown(this.rank, new Int32Array(capacity));
    this.byRank = grown(this.byRank, new Int32Array(capacity));
    this.unmet = grown(this.unmet, new Int32Array(capacity));
    this.firstIn = grown(this.firstIn, new Int32Array(capacity));
    this.inCount = grown(this.inCount, new Int32Array(capacity));
    this.firstOut = grown(this.firstOut, new Int32Array(capacity));
    this.lastOut = grown(this.lastOut, new Int32Array(capacity));
    this.slot = grown(this.slot, new Int32Array(capacity));
  }

  #growEdges(capacity: number): void {
    this.dependency = grown(this.dependency, new Int32Array(capacity));
    this.dependent = grown(this.dependent, new Int32Array(capacity));
    this.nextOut = grown(this.nextOut, new Int32Array(capacity));
  }
}

/** Ends a linked list of edges. */
export const NONE = -1;

type Column = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

function grown<T extends Column>(from: T, to: T): T {
  to.set(from);
  return to;
}
