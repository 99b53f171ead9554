/** Which refs belong to one run, what would be lost with them, and how are they removed? Nothing throws. */
import type { Failed } from "../core/result.ts";

export type OwnRefs = {
  list(owned: Owned, signal: AbortSignal): Promise<readonly OwnRef[] | Failed>;
  /** Of these commits and their ancestors, those that no branch, tag or HEAD but the run's own leads to. */
  onlyIn(
    owned: Owned,
    commits: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string> | Failed>;
  /** All of them, each only if it still leads where it was seen to lead. */
  remove(refs: readonly OwnRef[], signal: AbortSignal): Promise<Failed | undefined>;
};

export type OwnRef = {
  /** In full. */
  readonly ref: string;
  readonly commit: string;
  /** The work tree that has it checked out, if one has. */
  readonly checkedOutIn?: string;
};

/** `branches`: the prefix of the run's branches. A branch that the user made under it is not the run's. */
export type Owned = { readonly run: string; readonly branches: string };
