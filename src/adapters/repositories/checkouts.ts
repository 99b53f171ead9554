/** Who has a branch checked out? Moving it under them would make their next commit take back what it moved by. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { broken, inStore, type Store } from "./store.ts";

/**
 * Undefined if nobody has. Files are read first, so that a landing starts no process for this. A rebase or a bisect
 * of the branch is none: git checks the branch out afterwards as it is then, or finds that it moved.
 */
export async function inTheWay(store: Store, ref: string, signal: AbortSignal): Promise<Failed | undefined> {
  if (!(await mayBeCheckedOut(store.gitDir, ref))) return undefined;
  const places = await checkoutsOf(store, ref, signal);
  if (hasFailed(places)) return places;
  if (places.length === 0) return undefined; // The HEAD of a bare repository, or a work tree that is gone.
  const branch = ref.replace(/^refs\/heads\//, "");
  return broken(
    `the branch ${branch} is checked out in ${places.join(" and ")}, so that it cannot move`,
    "`git checkout --detach` there, or check out another branch",
  );
}

/** The folders of all work trees that are on this branch; one whose folder is gone does not count. */
export async function checkoutsOf(
  store: Store,
  ref: string,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const answer = await inStore(store, { args: ["worktree", "list", "--porcelain", "-z"] }, signal);
  if (!answer.ok) return { failure: answer.failure };
  return answer.out
    .split("\0\0")
    .map((record) => record.split("\0"))
    .filter((lines) => lines.includes(`branch ${ref}`) && !lines.some((line) => /^prunable\b/.test(line)))
    .map(([first = ""]) => first.replace(/^worktree /, ""));
}

/** Of the repository itself, and of each work tree that was added to it. */
async function mayBeCheckedOut(gitDir: string, ref: string): Promise<boolean> {
  const added = await orNothing(readdir(join(gitDir, "worktrees")), []);
  const heads = [gitDir, ...added.map((name) => join(gitDir, "worktrees", name))];
  const texts = await Promise.all(heads.map((at) => orNothing(readFile(join(at, "HEAD"), "utf8"), "")));
  return texts.some((text) => text.trimEnd() === `ref: ${ref}` || text.startsWith(ELSEWHERE));
}

/** What a HEAD says where refs are not files (`extensions.refStorage`). */
const ELSEWHERE = "ref: refs/heads/.invalid";

async function orNothing<T>(read: Promise<T>, nothing: T): Promise<T> {
  try {
    return await read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return nothing; // No work trees, or one just removed.
    throw error;
  }
}
