/** Does a tree pass? The commands come from the target, the tree from the candidate. */
import type { GateReport } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import type { Problem } from "../core/repair.ts";
import type { Failed } from "./repository.ts";

export type Gate = {
  /** Runs the commands that `rules` (a commit) names on the tree of `commit`. No commands: an empty report. */
  run(tree: GatedTree, signal: AbortSignal): Promise<GateRun | Failed>;
  /** Begins to make a place ready for a tree that is likely to be gated soon. A head start: nobody waits for it. */
  prepare(tree: GatedTree): void;
  /** What of the gate itself differs between two commits, in words: "package.json: the script test". */
  changes(from: string, to: string, signal: AbortSignal): Promise<readonly string[] | Failed>;
};

export type GatedTree = { readonly job: JobId; readonly commit: string; readonly rules: string };

export type GateRun = {
  readonly report: GateReport;
  /** The same failures with their places, for the reconciler. */
  readonly problems: readonly Problem[];
  /** The end of what the failing commands wrote. */
  readonly tail: string;
};
