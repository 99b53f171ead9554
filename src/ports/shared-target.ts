/** Where do all machines of a fleet see the target of a run? Moved there first, with its proofs, then here. */
import type { Failed } from "../core/result.ts";

/** None of these throws. */
export type SharedTarget = {
  /** Brings the target and the proofs of a run here, as they are there. */
  fetch(target: string, signal: AbortSignal): Promise<Failed | undefined>;
  /** Both or none. `moved`: one of them is not where it was when it was last fetched. */
  move(move: SharedMove, signal: AbortSignal): Promise<"moved" | "done" | Failed>;
};

export type SharedMove = {
  readonly target: string;
  readonly from: string;
  readonly to: string;
  /** The commit of the proofs. */
  readonly proofs: string;
};
