/** The port that lists and removes the refs of one run, and finds commits that only they keep. Nothing throws. */
import type { Failed } from "../core/result.ts";

export type OwnRefs = {
  list(owned: Owned, signal: AbortSignal): Promise<readonly OwnRef[] | Failed>;
  /** Of these commits and their ancestors, those that only the run's own refs lead to, no other branch, tag or HEAD. */
  onlyIn(
    owned: Owned,
    commits: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string> | Failed>;
  /** Removes each of the refs, but only if it still points at the commit that was seen. */
  remove(refs: readonly OwnRef[], signal: AbortSignal): Promise<Failed | undefined>;
};

export type OwnRef = {
  /** The ref's full name. */
  readonly ref: string;
  readonly commit: string;
  /** The work tree that has it checked out, if there is one. */
  readonly checkedOutIn?: string;
};

/** `branches`: the prefix of the run's branches. A branch that the user made under it does not belong to the run. */
export type Owned = { readonly run: string; readonly branches: string };
