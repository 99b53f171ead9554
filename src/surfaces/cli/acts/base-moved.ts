/** Is there something on the user's branch that a run has not seen? Asked of git now, whatever the log says. */
import { askGit, type Project } from "../../../compose/project.ts";
import { targetBranchOf } from "../../../core/brief.ts";
import type { RunRecord } from "../../../ports/runs.ts";
import { plural, short } from "../words.ts";
import { prefixOf } from "./names.ts";

export type BaseMoved = {
  readonly branch: string;
  readonly commit: string;
  /** Commits that are on the branch and not in the target. */
  readonly commits: number;
};

/** Undefined if it has not moved, or if it has all that a run that is over can bring. */
export async function baseMoved(
  { located }: Project,
  record: RunRecord,
  isOver: boolean,
): Promise<BaseMoved | undefined> {
  const { run, base, baseBranch } = record;
  if (baseBranch === undefined) return undefined;
  const ref = `refs/heads/${baseBranch}`;
  const commit = await askGit(located.top, ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  if (commit === undefined || commit === base) return undefined;
  const target = `refs/heads/${targetBranchOf(run, prefixOf(record))}`;
  const counted = await askGit(located.top, [
    "rev-list",
    "--left-right",
    "--count",
    `${target}...${commit}`,
    "--",
  ]);
  const [ours = 0, theirs = 0] = counted?.split("\t").map(Number) ?? [];
  return theirs > 0 && (ours > 0 || !isOver) ? { branch: baseBranch, commit, commits: theirs } : undefined;
}

export const baseMovedText = ({ branch, commit, commits }: BaseMoved): string =>
  `${branch} has moved to ${short(commit)}, by ${plural(commits, "commit")} that the run has not seen; ` +
  "deliver will merge it and gate the result first";
