/** What would the target be with these branches on top? Commits that no branch points at yet. */
import type { Conflict, Member } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Branch, Candidate, Wanted } from "../../ports/repository.ts";
import { inTheWay } from "./checkouts.ts";
import { merge } from "./merge.ts";
import { landMessage, mergeMessage } from "./message.ts";
import { refOf, wrongNames } from "./names.ts";
import { type ReplayStep, replay } from "./replay.ts";
import { broken, neededCommit, readCommit, type Store, writeCommit } from "./store.ts";

export async function candidate(
  store: Store,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Candidate | Failed> {
  const { run, onto, strategy, members } = wanted;
  const taken = await blocked(store, wanted, signal);
  if (taken) return taken;
  const base = await neededCommit(store, onto);
  if (hasFailed(base)) return base;

  let tip = { id: base.id, tree: base.tree };
  const merged: Branch[] = [];
  const conflicts: Conflict[] = [];
  for (const member of members) {
    const theirs = await made(store, member);
    if (hasFailed(theirs)) return theirs;
    const whole = await merge(store, tip.id, theirs.id, signal);
    if (hasFailed(whole)) return whole;
    if (whole.is === "conflict") {
      const conflict = await conflictOf(
        store,
        { onto, tip: tip.id, theirs: theirs.id, whole, member },
        signal,
      );
      if (hasFailed(conflict)) return conflict;
      conflicts.push(conflict);
      continue;
    }
    const step = { run, onto: tip, member, theirs: theirs.id, tree: whole.tree };
    const next =
      strategy === "merge-commit"
        ? await mergeCommit(store, step)
        : await replay(store, { ...step, isForward: strategy === "fast-forward" }, signal);
    if (typeof next !== "string") return next;
    tip = { id: next, tree: whole.tree };
    merged.push(member);
  }
  if (merged.length === 0) return { commit: undefined, members: [], conflicts };
  // Each landing of a batch is one commit on the first parents of the target.
  const isBatch = strategy === "merge-commit" && merged.length > 1;
  const batch = { tree: tip.tree, parents: [onto, tip.id], message: landMessage(run, merged) };
  const commit = isBatch ? await writeCommit(store, batch) : tip.id;
  return { commit, members: merged.map(memberOf), conflicts };
}

/** Checked first, so that no wrong name reaches git. */
export const wrongWanted = ({ run, onto, members }: Wanted): Failed | undefined =>
  wrongNames({
    commits: [onto, ...members.flatMap(({ commit }) => commit ?? [])],
    branches: members.map(({ branch }) => branch),
    runs: [run],
  });

export const blocked = async (store: Store, { target }: Wanted, signal: AbortSignal) =>
  target === undefined ? undefined : inTheWay(store.gitDir, refOf(target), signal);

/** The commit that was judged. The branch is only a name for it, and others can move it. */
async function made(
  store: Store,
  { task, branch, commit }: Branch,
): Promise<{ readonly id: string } | Failed> {
  const found = await readCommit(store, commit ?? refOf(branch));
  if (found !== undefined) return found;
  const what = commit === undefined ? `the branch ${branch}` : `the commit ${commit}, judged as ${branch},`;
  return broken(`${what} of task ${task} is not there`);
}

const memberOf = ({ task, attempt }: Branch): Member => ({ task, attempt });

type Meeting = {
  readonly onto: string;
  readonly tip: string;
  readonly theirs: string;
  readonly whole: { readonly files: readonly string[] };
  readonly member: Branch;
};

/** Does it conflict with the target itself, or only with earlier members of this batch? */
async function conflictOf(store: Store, meeting: Meeting, signal: AbortSignal): Promise<Conflict | Failed> {
  const { onto, tip, theirs, whole, member } = meeting;
  if (tip === onto) return { task: member.task, files: whole.files, against: "target" };
  const alone = await merge(store, onto, theirs, signal);
  if (hasFailed(alone)) return alone;
  return alone.is === "conflict"
    ? { task: member.task, files: alone.files, against: "target" }
    : { task: member.task, files: whole.files, against: "batch" };
}

const mergeCommit = (store: Store, { run, onto, member, theirs, tree }: ReplayStep): Promise<string> =>
  writeCommit(store, { tree, parents: [onto.id, theirs], message: mergeMessage(run, member) });
