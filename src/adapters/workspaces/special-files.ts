/** Finds and removes pipes, sockets and devices that a worker left in its tree: git would wait for ever on a pipe. */
import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { readShort } from "../files/read-bounded.ts";
import type { GitAnswer } from "../git/git.ts";

type Guarded = {
  /** The folder that holds everything that git reads and a worker can change. */
  readonly tree: string;
  readonly run: (signal: AbortSignal) => Promise<GitAnswer>;
  readonly again: () => Promise<void>;
  /** Called with the path of each pipe, socket or device that was removed. */
  readonly onSpecial?: (path: string) => void;
};

/**
 * Runs git, and removes special files if it takes long. Git opens `.gitignore`, `.gitattributes` and the `HEAD` of
 * inner repositories, and blocks if one is a pipe. Searching the tree before each call would cost as much as the
 * call.
 */
export async function guarded({ tree, run, again, onSpecial }: Guarded, signal: AbortSignal) {
  const stopper = new AbortController();
  let isDone = false;
  const answer = run(AbortSignal.any([signal, stopper.signal])).finally(() => {
    isDone = true;
  });
  const slow = Promise.withResolvers<void>();
  const timer = setTimeout(slow.resolve, SLOW_MS);
  await Promise.race([answer, slow.promise]);
  clearTimeout(timer);
  if (isDone) return answer;
  const found = await specialFiles(tree, () => isDone);
  for (const path of found) {
    // It is gone, or in a locked folder: then the call ends at its own time limit.
    await unlink(Buffer.concat([Buffer.from(`${tree}/`), path])).catch(() => {});
  }
  if (isDone || found.length === 0) return answer;
  for (const path of found) onSpecial?.(path.toString());
  stopper.abort();
  await answer;
  await again();
  return run(signal);
}

/** Most calls take about 10 ms. */
const SLOW_MS = 1_000;

/**
 * Special files in a tree, which git skips silently because they are not files; in a huge tree only those near its
 * top. `amongIgnored`: also in ignored folders that a gate keeps, in which a test may have left one.
 */
export async function leftSpecials(tree: string, amongIgnored = false): Promise<readonly Buffer[]> {
  const max = amongIgnored ? MAX_FOLDERS_OF_GATE : MAX_FOLDERS;
  let folders = 0;
  const isOver = () => {
    folders += 1;
    return folders > max;
  };
  return specialFiles(tree, isOver, amongIgnored ? isGits : isWithoutWork);
}

/** Takes 60 ms, at the same time as the git that lists changes. */
const MAX_FOLDERS = 1_000;
/** Takes 1 s; a project with 20,000 packed files has 2,000 folders. */
const MAX_FOLDERS_OF_GATE = 20_000;
type IsLeftOut = (name: string, isAtTop: boolean) => boolean;

/** These folders hold no work, and node_modules has thousands of folders. */
const isWithoutWork: IsLeftOut = (name) => name === ".git" || name === "node_modules";
/** Only the top one, because a test may make repositories of its own. */
const isGits: IsLeftOut = (name, isAtTop) => isAtTop && name === ".git";

/** Removes special files: a test that makes one again would fail, and a program that opens one may wait for ever. */
export async function removeSpecials(tree: string, amongIgnored: boolean): Promise<void> {
  for (const path of await leftSpecials(tree, amongIgnored))
    await unlink(Buffer.concat([Buffer.from(`${tree}/`), path])).catch(() => {}); // It is in a locked folder.
}

/** Paths as bytes, because names need not be UTF-8; those near the top first. Follows no link. */
async function specialFiles(
  tree: string,
  isOver: () => boolean,
  isLeftOut: IsLeftOut = () => false,
): Promise<readonly Buffer[]> {
  const found: Buffer[] = [];
  const folders = [Buffer.alloc(0)];
  for (let next = 0; next < folders.length && !isOver(); next += 1) {
    const folder = folders[next]!;
    const at = Buffer.concat([Buffer.from(`${tree}/`), folder]);
    const entries = await readdir(at, { withFileTypes: true, encoding: "buffer" }).catch(() => []);
    for (const entry of entries) {
      const path = Buffer.concat([folder, entry.name]);
      const isFolder = entry.isDirectory();
      if (isFolder && !isLeftOut(entry.name.toString(), next === 0))
        folders.push(Buffer.concat([path, SLASH]));
      else if (!isFolder && !entry.isFile() && !entry.isSymbolicLink()) found.push(path);
    }
  }
  return found;
}

const SLASH = Buffer.from("/");

/** Whether git can safely read a folder of objects: only files and folders, and the alternates that it was given. */
export async function isPlainObjectFolder(folder: string, alternates: string): Promise<boolean> {
  if ((await readShort(join(folder, "info", "alternates"))) !== alternates) return false;
  return (await onlyFiles(folder, OBJECT_DEPTH, { left: MAX_OBJECT_FILES })) === true;
}

async function onlyFiles(folder: string, depth: number, budget: { left: number }): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return false;
  for (const entry of entries) {
    budget.left -= 1;
    if (budget.left < 0) return false;
    if (entry.isFile()) continue;
    if (!entry.isDirectory()) return false;
    if (depth > 1 && !(await onlyFiles(join(folder, entry.name), depth - 1, budget))) return false;
  }
  return true;
}

/** `objects/info/commit-graphs/x`: git looks no deeper. */
const OBJECT_DEPTH = 3;
/** A worker commits hundreds of objects; a fetched repository would be packed. */
const MAX_OBJECT_FILES = 500_000;
