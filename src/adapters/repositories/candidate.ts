/** What would the target be with these branches on top? Commits in the object database that no branch points at. */
import type { Conflict, Member } from "../../core/job.ts";
import { type Branch, type Candidate, type Failed, hasFailed, type Wanted } from "../../ports/repository.ts";
import { inTheWay } from "./checkouts.ts";
import { merge } from "./merge.ts";
import { landMessage, mergeMessage } from "./message.ts";
import { refOf, wrongNames } from "./names.ts";
import { replay, type Step } from "./replay.ts";
import { broken, readCommit, type Store, signature, writeCommit } from "./store.ts";

export async function candidate(
  store: Store,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Candidate | Failed> {
  const { run, onto, strategy, members } = wanted;
  const taken = await blocked(store, wanted, signal);
  if (taken) return taken;
  const base = await readCommit(store, onto);
  if (base === undefined) return broken(`the commit ${onto} is not there`);
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
  const commit =
    strategy === "merge-commit" && merged.length > 1
      ? await batchCommit(store, { run, onto, tip, merged })
      : tip.id;
  return { commit, members: merged.map(memberOf), conflicts };
}

/** Asked before anything else: none of these names has reached git. */
export const wrongWanted = ({ run, onto, members }: Wanted): Failed | undefined =>
  wrongNames({
    commits: [onto, ...members.flatMap(({ commit }) => commit ?? [])],
    branches: members.map(({ branch }) => branch),
    runs: [run],
  });

/** Whether the target could not move there anyway. */
export const blocked = async (store: Store, { target }: Wanted, signal: AbortSignal) =>
  target === undefined ? undefined : inTheWay(store, refOf(target), signal);

/** The commit that was judged: the branch is only its name, and others can move it. */
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

/** With the target itself, or only with those that came before it in this batch? */
async function conflictOf(store: Store, meeting: Meeting, signal: AbortSignal): Promise<Conflict | Failed> {
  const { onto, tip, theirs, whole, member } = meeting;
  if (tip === onto) return { task: member.task, files: whole.files, against: "target" };
  const alone = await merge(store, onto, theirs, signal);
  if (hasFailed(alone)) return alone;
  return alone.is === "conflict"
    ? { task: member.task, files: alone.files, against: "target" }
    : { task: member.task, files: whole.files, against: "batch" };
}

function mergeCommit(store: Store, { run, onto, member, theirs, tree }: Step): Promise<string> {
  const by = signature(store);
  const message = mergeMessage(run, member);
  return writeCommit(store, { tree, parents: [onto.id, theirs], author: by, committer: by, message });
}

/** So the first parents of the target are its landings, one commit for each. */
function batchCommit(
  store: Store,
  batch: {
    readonly run: string;
    readonly onto: string;
    readonly tip: { readonly id: string; readonly tree: string };
    readonly merged: readonly Branch[];
  },
): Promise<string> {
  const by = signature(store);
  return writeCommit(store, {
    tree: batch.tip.tree,
    parents: [batch.onto, batch.tip.id],
    author: by,
    committer: by,
    message: landMessage(batch.run, batch.merged),
  });
}
