/** Makes a candidate: commits, without a branch, of the target with these branches merged on top. */
import type { Conflict, Member } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Branch, Candidate, Wanted } from "../../ports/repository.ts";
import { fieldsIn } from "../git/git.ts";
import { inTheWay } from "./checkouts.ts";
import { type CommitsRead, hasForged, unforged } from "./forged.ts";
import { merge, pick } from "./merge.ts";
import { landMessage, mergeMessage, replayedMessage } from "./message.ts";
import { refOf, wrongNames } from "./names.ts";
import { broken, inStore, neededCommit, readCommit, type Store, writeCommit } from "./store.ts";

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
  const read: CommitsRead = new Map();
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
    const step = { run, base: onto, onto: tip, member, theirs: theirs.id, tree: whole.tree, read };
    const next =
      strategy === "merge-commit"
        ? await mergeCommit(store, step, signal)
        : await replay(store, { ...step, isForward: strategy === "fast-forward" }, signal);
    if (typeof next !== "string") return next;
    tip = { id: next, tree: whole.tree };
    merged.push(member);
  }
  if (merged.length === 0) return { commit: undefined, members: [], conflicts };
  // A batch lands as one commit on the first parents of the target.
  const isBatch = strategy === "merge-commit" && merged.length > 1;
  const batch = { tree: tip.tree, parents: [onto, tip.id], message: landMessage(run, merged) };
  const commit = isBatch ? await writeCommit(store, batch) : tip.id;
  return { commit, members: merged.map(memberOf), conflicts };
}

/** Called first, so that no invalid name reaches git. */
export const wrongWanted = ({ run, onto, members }: Wanted): Failed | undefined =>
  wrongNames({
    commits: [onto, ...members.flatMap(({ commit }) => commit ?? [])],
    branches: members.map(({ branch }) => branch),
    runs: [run],
  });

export const blocked = async (store: Store, { target }: Wanted, signal: AbortSignal) =>
  target === undefined ? undefined : inTheWay(store.gitDir, refOf(target), signal);

/** The commit that was judged. The branch is only a name for it, which other programs can move. */
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

/** Whether a member conflicts with the target itself, or only with earlier members of this batch. */
async function conflictOf(store: Store, meeting: Meeting, signal: AbortSignal): Promise<Conflict | Failed> {
  const { onto, tip, theirs, whole, member } = meeting;
  if (tip === onto) return { task: member.task, files: whole.files, against: "target" };
  const alone = await merge(store, onto, theirs, signal);
  if (hasFailed(alone)) return alone;
  return alone.is === "conflict"
    ? { task: member.task, files: alone.files, against: "target" }
    : { task: member.task, files: whole.files, against: "batch" };
}

async function mergeCommit(store: Store, step: ReplayStep, signal: AbortSignal): Promise<string | Failed> {
  const { run, base, onto, member, theirs, tree, read } = step;
  const found = await unforged(store, { run, member, onto: base, theirs, read }, signal);
  const second = found ?? (await squashed(store, step));
  if (typeof second !== "string") return second;
  return writeCommit(store, { tree, parents: [onto.id, second], message: mergeMessage(run, member) });
}

/** One branch that is put on top of the candidate so far, with or without a merge commit. */
type ReplayStep = {
  readonly run: string;
  /** The target's tip. Unlike the commits of this candidate, which no ref holds yet, it cannot be pruned. */
  readonly base: string;
  readonly onto: { readonly id: string; readonly tree: string };
  readonly member: Branch;
  readonly theirs: string;
  /** The tree of the merge of the two: every strategy lands it. */
  readonly tree: string;
  readonly read: CommitsRead;
};

/**
 * Replays each commit of the branch, without merges. If that does not give the tree of the merge (because of a
 * conflict on the way, or one that the worker resolved in a merge), it makes one commit with that tree.
 */
async function replay(
  store: Store,
  step: ReplayStep & { readonly isForward: boolean },
  signal: AbortSignal,
): Promise<string | Failed> {
  const listed = await commitsOf(store, step, signal);
  if (hasFailed(listed)) return listed;
  if (step.isForward && listed.length > 0 && isStraight(listed, step.onto.id)) {
    const mayStay = await areUnforged(store, step, listed);
    if (mayStay !== false) return mayStay === true ? step.theirs : mayStay;
  }
  const picked = listed.filter(({ parents }) => parents.length <= 1);
  if (picked.length === 0 || picked.length > MAX_REPLAYED) return squashed(store, step);

  let tip = step.onto;
  for (const commit of picked) {
    const tree = await treeOf(store, { step, tip: tip.id, commit, isOnly: listed.length === 1 }, signal);
    if (tree === undefined) return squashed(store, step);
    if (typeof tree !== "string") return tree;
    if (tree === tip.tree) continue; // The target has this change already.
    const id = await rewritten(store, step, { tip: tip.id, tree, commit: commit.id });
    if (typeof id !== "string") return id;
    tip = { id, tree };
  }
  return tip.tree === step.tree && tip.id !== step.onto.id ? tip.id : squashed(store, step);
}

/** Branches with more commits are not read one by one. */
const MAX_REPLAYED = 500;

type Listed = { readonly id: string; readonly parents: readonly string[] };

async function commitsOf(
  store: Store,
  { onto, theirs }: ReplayStep,
  signal: AbortSignal,
): Promise<readonly Listed[] | Failed> {
  const args = ["rev-list", "--parents", "--reverse", "--topo-order", `--max-count=${MAX_REPLAYED + 1}`];
  const answer = await inStore(
    store,
    { args: [...args, "--end-of-options", `${onto.id}..${theirs}`] },
    signal,
  );
  if (!answer.ok) return { failure: answer.failure };
  return fieldsIn(answer.out, "\n").map((line) => {
    const [id = "", ...parents] = line.split(" ");
    return { id, parents };
  });
}

/**
 * Whether each commit is on the one before and the first on `onto`, so that every landing is on the first parents
 * of the target.
 */
const isStraight = (commits: readonly Listed[], onto: string): boolean =>
  commits.every(({ parents }, at) => parents.length === 1 && parents[0] === (commits[at - 1]?.id ?? onto));

async function areUnforged(
  store: Store,
  step: ReplayStep,
  listed: readonly Listed[],
): Promise<boolean | Failed> {
  for (const { id } of listed) {
    const commit = await neededCommit(store, id);
    if (hasFailed(commit)) return commit;
    if (hasForged(step, commit)) return false;
  }
  return true;
}

/** Undefined if it conflicts. The only commit of a branch changes what the merge changes. */
async function treeOf(
  store: Store,
  pickOf: {
    readonly step: ReplayStep;
    readonly tip: string;
    readonly commit: Listed;
    readonly isOnly: boolean;
  },
  signal: AbortSignal,
): Promise<string | undefined | Failed> {
  if (pickOf.isOnly) return pickOf.step.tree;
  const merged = await pick(store, pickOf.tip, pickOf.commit, signal);
  if (hasFailed(merged)) return merged;
  return merged.is === "clean" ? merged.tree : undefined;
}

async function rewritten(
  store: Store,
  { run, member }: ReplayStep,
  made: { readonly tip: string; readonly tree: string; readonly commit: string },
): Promise<string | Failed> {
  const old = await neededCommit(store, made.commit);
  if (hasFailed(old)) return old;
  const message = replayedMessage(run, member, old.message);
  return writeCommit(store, { tree: made.tree, parents: [made.tip], author: old.author, message });
}

/**
 * Makes one commit of the branch, even if it has nothing new, because a landing needs a commit of its own for its
 * proof.
 */
async function squashed(
  store: Store,
  { run, member, onto, theirs, tree }: ReplayStep,
): Promise<string | Failed> {
  const old = await neededCommit(store, theirs);
  if (hasFailed(old)) return old;
  const message = mergeMessage(run, member);
  return writeCommit(store, { tree, parents: [onto.id], author: old.author, message });
}
