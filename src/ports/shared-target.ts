/** The port of the target that a fleet's machines share: it moves on the remote first, with its proofs, then here. */
import type { Failed } from "../core/result.ts";

/** None of these throws. */
export type SharedTarget = {
  /** Fetches the target and the proofs of a run. */
  fetch(target: string, signal: AbortSignal): Promise<Failed | undefined>;
  /** Moves both or none. `moved`: one of them has moved since it was last fetched. */
  move(move: SharedMove, signal: AbortSignal): Promise<"moved" | "done" | Failed>;
};

export type SharedMove = {
  readonly target: string;
  readonly from: string;
  readonly to: string;
  /** The commit of the proofs. */
  readonly proofs: string;
};
