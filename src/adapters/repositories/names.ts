/** Names the refs of a run, and checks names from outside before they reach git. */

import type { Failed } from "../../core/result.ts";
import { isRefSafe } from "../../text/slug.ts";
import { broken } from "./store.ts";

export const isCommit = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** A branch by its short name, or any ref by its full one. */
export const refOf = (branch: string): string =>
  branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;

export const proofsOf = (run: string): string => `refs/notes/skein/${run}`;

/** The prefix of refs that keep what a run needs from `git gc`; they are removed when the run is closed. */
export const heldBy = (run: string): string => `refs/skein/held/${run}`;

/** The ref that holds an attempt's work, besides its branch; `held` is `heldBy` of its run. */
export const keptBy = (held: string, branch: string): string =>
  `${held}/kept/${branch.slice(branch.lastIndexOf("/") + 1)}`;

export function wrongNames(names: {
  readonly commits?: readonly string[];
  readonly branches?: readonly string[];
  readonly runs?: readonly string[];
}): Failed | undefined {
  const commit = names.commits?.find((name) => !isCommit(name));
  if (commit !== undefined) return broken(`no commit: ${shown(commit)}`);
  const branch = names.branches?.find((name) => !isRefSafe(name));
  if (branch !== undefined) return broken(`no name of a branch: ${shown(branch)}`);
  const run = names.runs?.find((name) => !isRefSafe(name));
  return run === undefined ? undefined : broken(`no name of a run: ${shown(run)}`);
}

const shown = (name: string) => JSON.stringify(name.slice(0, MAX_SHOWN_CHARS));
const MAX_SHOWN_CHARS = 100;
