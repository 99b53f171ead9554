/** Finds the work trees that have a branch checked out: after a move of it, their next commit would undo the move. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import { git, inGitDir } from "../git/git.ts";
import { broken } from "./store.ts";

/**
 * A failure if a work tree has the branch checked out. Files are read first, so that a landing starts no process
 * for this. A rebase or bisect of the branch does not count: git looks at the branch again afterwards.
 */
export async function inTheWay(
  gitDir: string,
  ref: string,
  signal?: AbortSignal,
): Promise<Failed | undefined> {
  if (!(await mayBeCheckedOut(gitDir, ref))) return undefined;
  const places = await checkoutsOf(gitDir, ref, signal);
  if (hasFailed(places)) return places;
  if (places.length === 0) return undefined; // It is the HEAD of a bare repository, or a work tree that is gone.
  const branch = ref.replace(/^refs\/heads\//, "");
  return broken(
    `the branch ${branch} is checked out in ${places.join(" and ")}, so it cannot move`,
    "`git checkout --detach` there, or check out another branch",
  );
}

/** The folders of all work trees that are on this branch, except those whose folder is gone. */
export async function checkoutsOf(
  gitDir: string,
  ref: string,
  signal?: AbortSignal,
): Promise<readonly string[] | Failed> {
  const args = ["worktree", "list", "--porcelain", "-z"];
  const answer = await git({ ...inGitDir(gitDir), args }, signal);
  if (!answer.ok) return answer;
  return answer.out
    .split("\0\0")
    .map((record) => record.split("\0"))
    .filter((lines) => lines.includes(`branch ${ref}`) && !lines.some((line) => /^prunable\b/.test(line)))
    .map(([first = ""]) => first.replace(/^worktree /, ""));
}

/** Reads the HEAD files of the repository and of each added work tree, without a process. */
async function mayBeCheckedOut(gitDir: string, ref: string): Promise<boolean> {
  const added = await readdir(join(gitDir, "worktrees")).catch(noneIf([]));
  const heads = [gitDir, ...added.map((name) => join(gitDir, "worktrees", name))];
  const texts = await Promise.all(heads.map((at) => readFile(join(at, "HEAD"), "utf8").catch(noneIf(""))));
  return texts.some((text) => text.trimEnd() === `ref: ${ref}` || text.startsWith(ELSEWHERE));
}

/** The content of HEAD if refs are not files (`extensions.refStorage`). */
const ELSEWHERE = "ref: refs/heads/.invalid";

/** There are no added work trees, or one was removed just now. */
const noneIf =
  <T>(none: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== "ENOENT") throw error;
    return none;
  };
