/** The node of a graph: its dependencies, its dependents and its state. */

/**
 * ```
 *  add ─→ waiting ─last dependency done─→ ready ─take─→ taken ─complete─→ done
 *            │                             │ ↑           │ │
 *            │                             │ └──release──┘ │        (ready may complete, too)
 *            └──────────── fail, or a dependency died ─────┴─→ dead
 * ```
 */
export type NodeStatus = "waiting" | "ready" | "taken" | "done" | "dead";

/** A subclass may add fields of its own, so that one look-up finds everything about a node. */
export class DagNode {
  readonly id: string;
  /** "missing": named as a dependency, but not added yet. */
  state: NodeStatus | "missing" = "missing";
  priority = 0;
  lane = 0;
  /** Its index in the order of insertion. */
  rank = -1;
  /** The dependencies as they were given; a repeated id counts once. */
  after: readonly string[] = NO_IDS;
  /** In the order of their insertion. */
  dependents: this[] | undefined = undefined;
  /** Dependencies that are not done yet. */
  unmet = 0;
  /** Its position in the ready queue. */
  slot = 0;

  constructor(id: string) {
    this.id = id;
  }
}

export const NO_IDS: readonly string[] = Object.freeze([]);
