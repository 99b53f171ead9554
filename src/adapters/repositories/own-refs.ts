/** Which refs of a repository are one run's own, what would be lost with them, and how are they removed? */
import { existsSync } from "node:fs";
import type { Failed } from "../../ports/repository.ts";
import { git } from "../git/git.ts";
import { heldBy, isCommit, proofsOf, wrongNames } from "./names.ts";

export type OwnRef = {
  /** In full. */
  readonly ref: string;
  readonly commit: string;
  /** The work tree that has it checked out, if one has. */
  readonly checkedOutIn?: string;
};

/** `branches` is what the names of its branches begin with. A branch of the user's own in that place is none. */
export type Owned = { readonly run: string; readonly branches: string };

const patternsOf = ({ run, branches }: Owned): readonly string[] => [
  `refs/heads/${branches}target`,
  `refs/heads/${branches}task/`,
  proofsOf(run),
  `refs/skein/salvage/${run}/`,
  `${heldBy(run)}/`,
];

export async function ownRefs(
  folder: string,
  owned: Owned,
  signal: AbortSignal,
): Promise<readonly OwnRef[] | Failed> {
  const wrong = wrongNames({ runs: [owned.run], branches: [`${owned.branches}target`] });
  if (wrong) return wrong;
  const format = "--format=%(refname)%00%(objectname)%00%(worktreepath)";
  const listed = await git({ folder, args: ["for-each-ref", format, ...patternsOf(owned)] }, signal);
  if (!listed.ok) return { failure: listed.failure };
  return listed.out
    .split("\n")
    .map((line) => line.split("\0"))
    .filter(([, commit]) => isCommit(commit ?? ""))
    .map(([ref = "", commit = "", at = ""]) => ({
      ref,
      commit,
      ...(at !== "" && existsSync(at) ? { checkedOutIn: at } : {}), // A work tree that is gone is in nobody's way.
    }));
}

/** Of these commits and all that they follow from: those that no branch, tag or HEAD but the run's own leads to. */
export async function onlyIn(
  folder: string,
  { branches }: Owned,
  commits: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string> | Failed> {
  const asked = [...new Set(commits)].filter(isCommit).slice(-MAX_ASKED);
  if (asked.length === 0) return new Set<string>();
  const own = [
    `refs/heads/${branches}target`,
    `refs/heads/${branches}task/*`,
    "refs/skein/*",
    "refs/notes/*",
  ];
  const others = ["--not", ...own.map((pattern) => `--exclude=${pattern}`), "--all"];
  const listed = await git({ folder, args: ["rev-list", "--ignore-missing", ...asked, ...others] }, signal);
  return listed.ok ? new Set(listed.out.trim().split("\n")) : { failure: listed.failure };
}

/** On one command line; of a longer run the newest lead to the rest. */
const MAX_ASKED = 1_000;

/** All of them, and each only if it still leads where it was seen to lead. */
export async function removeRefs(
  folder: string,
  refs: readonly OwnRef[],
  signal: AbortSignal,
): Promise<Failed | undefined> {
  if (refs.length === 0) return undefined;
  const input = refs.map(({ ref, commit }) => `delete ${ref} ${commit}\n`).join("");
  const removed = await git({ folder, args: ["update-ref", "--no-deref", "--stdin"], input }, signal);
  return removed.ok ? undefined : { failure: removed.failure };
}
