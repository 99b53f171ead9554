/** How does a branch land without a merge commit? Its own commits are replayed, or taken as they are. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Branch } from "../../ports/repository.ts";
import { fieldsIn } from "../git/git.ts";
import { pick } from "./merge.ts";
import { mergeMessage, replayedMessage } from "./message.ts";
import { inStore, neededCommit, type Store, writeCommit } from "./store.ts";

export type ReplayStep = {
  readonly run: string;
  readonly onto: { readonly id: string; readonly tree: string };
  readonly member: Branch;
  readonly theirs: string;
  /** The tree of the merge of the two: every strategy lands it. */
  readonly tree: string;
};

/**
 * One commit for each of the branch, merges left out. Where that does not come to the tree of the merge (a
 * conflict on the way, or one that was resolved in a merge of the worker's), it is one commit with that tree.
 */
export async function replay(
  store: Store,
  step: ReplayStep & { readonly isForward: boolean },
  signal: AbortSignal,
): Promise<string | Failed> {
  const listed = await commitsOf(store, step, signal);
  if (hasFailed(listed)) return listed;
  if (step.isForward && listed.length > 0 && isStraight(listed, step.onto.id)) return step.theirs;
  const picked = listed.filter(({ parents }) => parents.length <= 1);
  if (picked.length === 0 || picked.length > MAX_REPLAYED) return squashed(store, step);

  let tip = step.onto;
  for (const commit of picked) {
    const tree = await treeOf(store, { step, tip: tip.id, commit, isOnly: listed.length === 1 }, signal);
    if (tree === undefined) return squashed(store, step);
    if (typeof tree !== "string") return tree;
    if (tree === tip.tree) continue; // It is in the target already.
    const id = await rewritten(store, step, { tip: tip.id, tree, commit: commit.id });
    if (typeof id !== "string") return id;
    tip = { id, tree };
  }
  return tip.tree === step.tree && tip.id !== step.onto.id ? tip.id : squashed(store, step);
}

/** More commits are not read one by one. */
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

/** Each commit on the one before, the first on `onto`: then every landing is on the first parents of the target. */
const isStraight = (commits: readonly Listed[], onto: string): boolean =>
  commits.every(({ parents }, at) => parents.length === 1 && parents[0] === (commits[at - 1]?.id ?? onto));

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

/** Also for a branch that has nothing new: a landing has a commit of its own, which carries its proof. */
async function squashed(
  store: Store,
  { run, member, onto, theirs, tree }: ReplayStep,
): Promise<string | Failed> {
  const old = await neededCommit(store, theirs);
  if (hasFailed(old)) return old;
  const message = mergeMessage(run, member);
  return writeCommit(store, { tree, parents: [onto.id], author: old.author, message });
}
