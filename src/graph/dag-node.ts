/** The node of a graph: what it waits for, what waits for it, and where it stands. */

/**
 * ```
 *  add ─→ waiting ─last dependency done─→ ready ─take─→ taken ─complete─→ done
 *            │                             │ ↑           │ │
 *            │                             │ └──release──┘ │        (ready may complete, too)
 *            └──────────── fail, or a dependency died ─────┴─→ dead
 * ```
 */
export type NodeStatus = "waiting" | "ready" | "taken" | "done" | "dead";

/** A subclass may keep what else is known of a node, so that one look-up finds all of it. */
export class DagNode {
  readonly id: string;
  /** Missing: named as a dependency, not added yet. */
  state: NodeStatus | "missing" = "missing";
  priority = 0;
  lane = 0;
  /** Its number in the order of insertion. */
  rank = -1;
  /** The dependencies as they were given; a repeated id counts once. */
  after: readonly string[] = NO_IDS;
  /** In the order of their insertion. */
  dependents: this[] | undefined = undefined;
  /** Dependencies that are not done yet. */
  unmet = 0;
  /** Where it is in the ready queue. */
  slot = 0;

  constructor(id: string) {
    this.id = id;
  }
}

export const NO_IDS: readonly string[] = Object.freeze([]);
