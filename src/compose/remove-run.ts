/** How is a run taken away that is over? Its refs first and its folder last, so that it can be asked for again. */

import { proofsOf, refOf } from "../adapters/repositories/names.ts";
import * as refs from "../adapters/repositories/own-refs.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Project } from "./project.ts";

export type Removal = {
  readonly refs: readonly refs.OwnRef[];
  /** The proofs of what was delivered: they are about the user's own history by now. */
  readonly staying: readonly string[];
  /** Commits that nothing but the run's own refs leads to. */
  readonly lost: ReadonlySet<string>;
};

/** `landed`: the commits that the log says were landed. */
export async function removalOf(
  { located: { top } }: Project,
  { record: { run } }: RunHome,
  { prefix, landed }: { readonly prefix: string; readonly landed: readonly string[] },
  signal: AbortSignal,
): Promise<Removal | Failed> {
  const owned = { run, branches: `${prefix}${run}/` };
  const all = await refs.ownRefs(top, owned, signal);
  if (hasFailed(all)) return all;
  const notes = proofsOf(run);
  const commits = [...landed, ...all.flatMap(({ ref, commit }) => (ref === notes ? [] : [commit]))];
  const lost = await refs.onlyIn(top, owned, commits, signal);
  if (hasFailed(lost)) return lost;
  const isProof = landed.some((commit) => !lost.has(commit));
  return {
    refs: isProof ? all.filter(({ ref }) => ref !== notes) : all,
    staying: isProof ? all.flatMap(({ ref }) => (ref === notes ? [ref] : [])) : [],
    lost,
  };
}

/**
 * What a person may have got hold of meanwhile stays, and is said: then nothing was removed. "gone": another process has
 * removed it meanwhile.
 */
export async function removeRun(
  { located: { top } }: Project,
  home: RunHome,
  removal: Removal,
  signal: AbortSignal,
): Promise<Failed | "gone" | undefined> {
  const lock = await home.lock();
  if (hasFailed(lock)) return home.isThere() ? lock : "gone";
  const failed = await refs.removeRefs(top, removal.refs, signal);
  if (!failed) return lock.discard();
  await lock.release();
  return failed;
}

/** The name of a branch, as people use it. */
export const branchOf = ({ ref }: refs.OwnRef): string | undefined =>
  ref.startsWith(refOf("")) ? ref.slice(refOf("").length) : undefined;
