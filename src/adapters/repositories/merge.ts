/** Merges one commit into another without a work tree: the result is a tree, or the files that conflict. */
import { type Failed, hasFailed } from "../../core/result.ts";
import { broken, inStore, neededCommit, type Store, writeCommit } from "./store.ts";

type Merge =
  | { readonly is: "clean"; readonly tree: string }
  | { readonly is: "conflict"; readonly files: readonly string[] };

export async function merge(
  store: Store,
  ours: string,
  theirs: string,
  signal: AbortSignal,
): Promise<Merge | Failed> {
  const answer = await inStore(store, { args: [...MERGE, ours, theirs] }, signal);
  if (!answer.ok && answer.code !== 1) return { failure: answer.failure };
  const [tree = "", ...rest] = answer.out.split("\0");
  if (!/^[0-9a-f]{40,64}$/.test(tree)) {
    const said = answer.ok ? tree.slice(0, 200) : answer.failure.message;
    return broken(`git merge-tree answered no tree: ${said}`);
  }
  return answer.ok ? { is: "clean", tree } : { is: "conflict", files: conflicting(rest) };
}

/** A worker may have started an unrelated history; then all differences conflict. */
const MERGE = [
  "merge-tree",
  "--write-tree",
  "-z",
  "--name-only",
  "--messages",
  "--allow-unrelated-histories",
  "--end-of-options",
];

/**
 * Reads the conflicted files, an empty field, then messages: number of paths, the paths, kind, text. A conflict
 * about whole folders is only among the messages.
 */
function conflicting(fields: readonly string[]): readonly string[] {
  const end = fields.indexOf("");
  const files = new Set(fields.slice(0, end === -1 ? fields.length : end));
  for (let at = end + 1; end !== -1 && at < fields.length; ) {
    const count = Number(fields[at]);
    if (!Number.isInteger(count) || fields[at] === "") break;
    const paths = fields.slice(at + 1, at + 1 + count);
    if (fields[at + 1 + count]?.startsWith("CONFLICT")) for (const path of paths) files.add(path);
    at += count + 3;
  }
  return [...files].toSorted();
}

/**
 * Applies the change of one commit on top of another. A commit with the tree of `onto` and the parent of `picked`
 * has that parent as its merge base, which `merge-tree` cannot be told in git 2.39.
 */
export async function pick(
  store: Store,
  onto: string,
  picked: { readonly id: string; readonly parents: readonly string[] },
  signal: AbortSignal,
): Promise<Merge | Failed> {
  const under = await neededCommit(store, onto);
  if (hasFailed(under)) return under;
  const parents = picked.parents.slice(0, 1);
  const ours = await writeCommit(store, { tree: under.tree, parents, message: "onto\n" });
  return merge(store, ours, picked.id, signal);
}
