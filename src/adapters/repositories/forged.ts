/** Rewrites a branch whose commits carry forged `Skein-*` trailers: without these, with the same authors. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Branch } from "../../ports/repository.ts";
import { fieldsIn, inGitDir } from "../git/git.ts";
import type { Commit } from "../git/objects.ts";
import { listRefs } from "../git/refs.ts";
import { withoutForged } from "./message.ts";
import { proofsOf } from "./names.ts";
import { inStore, neededCommit, type Store, writeCommit } from "./store.ts";

type Own = {
  readonly run: string;
  readonly member: Branch;
  readonly onto: string;
  /** The branch's commit. */
  readonly theirs: string;
  /** Commits that were read for the same candidate: the members of a batch go back over the same ones. */
  readonly read: CommitsRead;
};

export type CommitsRead = Map<string, { readonly id: string } & Commit>;

/**
 * The branch's commit, rewritten if it carries forged trailers. Undefined if it has too many commits to be
 * rewritten.
 */
export async function unforged(
  store: Store,
  own: Own,
  signal: AbortSignal,
): Promise<string | undefined | Failed> {
  const recent = await recentCommits(store, own);
  const isForged = recent ? recent.some((commit) => hasForged(own, commit)) : await maybe(store, own, signal);
  if (typeof isForged !== "boolean") return isForged;
  if (!isForged) return own.theirs;
  const listed = await ownCommits(store, own, signal);
  if (hasFailed(listed)) return listed;
  return listed.length > MAX_REWRITTEN ? undefined : rewrite(store, own, listed);
}

/** Takes a few seconds. */
const MAX_REWRITTEN = 5_000;

export const hasForged = (
  { run, member }: Pick<Own, "run" | "member">,
  { message, encoding }: Pick<Commit, "message" | "encoding">,
) => withoutForged(run, member, message) !== message || !isReadable(encoding);

/**
 * Whether this program can read the encoding. Git may read trailers in one that it cannot, such as UTF-7: then the
 * message is rewritten.
 */
function isReadable(encoding: string | undefined): boolean {
  try {
    return new TextDecoder(encoding ?? "utf-8").encoding !== "";
  } catch {
    return false;
  }
}

/**
 * The branch's own commits, found without a process if they are few, without merges, and on a recent tip, as in most
 * branches. Undefined otherwise.
 */
async function recentCommits(
  store: Store,
  { onto, theirs, read }: Own,
): Promise<readonly Commit[] | undefined> {
  const needed = async (id: string) => {
    const commit = read.get(id) ?? (await neededCommit(store, id));
    if (!hasFailed(commit)) read.set(id, commit);
    return commit;
  };
  const own: ({ readonly id: string } & Commit)[] = [];
  const first = await needed(onto);
  if (hasFailed(first)) return undefined;
  const tips = new Set<string>();
  let [next, tip]: (string | undefined)[] = [theirs, first.id];
  for (let steps = 0; steps < MAX_STEPS && (next ?? tip) !== undefined; steps += 1) {
    if (tip !== undefined) {
      tips.add(tip);
      const at = own.findIndex(({ id }) => id === tip);
      if (at !== -1) return isLine(own.slice(0, at)) ? own.slice(0, at) : undefined;
      if (!store.firstParents.has(tip)) {
        const older = await needed(tip);
        if (hasFailed(older)) return undefined; // The clone is shallow.
        rememberParent(store, older);
      }
      tip = store.firstParents.get(tip);
    }
    if (next === undefined) continue; // The target may be far ahead of a young repository's first commit.
    if (tips.has(next)) return isLine(own) ? own : undefined;
    const commit = await needed(next);
    if (hasFailed(commit)) return undefined;
    own.push(commit);
    next = commit.parents[0];
  }
  return undefined;
}

function rememberParent({ firstParents }: Store, { id, parents }: { readonly id: string } & Commit): void {
  if (firstParents.size >= MAX_REMEMBERED) firstParents.clear();
  firstParents.set(id, parents[0]);
}

/** About 2 MB of names. */
const MAX_REMEMBERED = 10_000;

/** As many landings as a branch is usually behind by; a step costs a hundredth of a process. */
const MAX_STEPS = 200;

const isLine = (commits: readonly Commit[]): boolean => commits.every(({ parents }) => parents.length === 1);

/** Whether any of the branch's commits has a line like a trailer of Skein. */
async function maybe(store: Store, { onto, theirs }: Own, signal: AbortSignal): Promise<boolean | Failed> {
  const search = ["rev-list", "--regexp-ignore-case", "--grep=^skein-", "--max-count=1"];
  const answer = await inStore(store, { args: [...search, "--end-of-options", theirs, `^${onto}`] }, signal);
  return answer.ok ? answer.out.trim() !== "" : { failure: answer.failure };
}

/** The branch's own commits, parents first, without those that other runs landed, whose trailers are genuine. */
async function ownCommits(
  store: Store,
  { onto, theirs }: Own,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const refs = await listRefs(
    { ...inGitDir(store.gitDir), patterns: [proofsOf(""), "refs/heads/"], fields: ["refname"] },
    signal,
  );
  if (hasFailed(refs)) return refs;
  const names = refs.map(([ref = ""]) => ref);
  const runs = new Set(
    names.filter((ref) => ref.startsWith(proofsOf(""))).map((ref) => ref.slice(proofsOf("").length)),
  );
  const targets = names.filter(
    (ref) => /^refs\/heads\/.*\/target$/.test(ref) && runs.has(ref.split("/").at(-2) ?? ""),
  );
  const args = ["rev-list", "--reverse", "--topo-order", `--max-count=${MAX_REWRITTEN + 1}`, "--stdin"];
  const input = [theirs, ...[onto, ...targets].map((name) => `^${name}`), ""].join("\n");
  const answer = await inStore(store, { args, input }, signal);
  return answer.ok ? fieldsIn(answer.out, "\n") : { failure: answer.failure };
}

async function rewrite(store: Store, own: Own, listed: readonly string[]): Promise<string | Failed> {
  const now = new Map<string, string>();
  for (const id of listed) {
    const commit = await neededCommit(store, id);
    if (hasFailed(commit)) return commit;
    const { tree, author, encoding } = commit;
    const message = withoutForged(own.run, own.member, commit.message) || "\n";
    const parents = commit.parents.map((parent) => now.get(parent) ?? parent);
    const isWord = message === commit.message && isReadable(encoding);
    const isSame = isWord && parents.every((parent, i) => parent === commit.parents[i]);
    now.set(id, isSame ? id : await writeCommit(store, { tree, parents, author, message }));
  }
  return now.get(own.theirs) ?? own.theirs;
}
