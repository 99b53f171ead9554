/** What if git waits for a pipe that somebody made where it looks for a file? It is looked for, removed, and said. */
import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { readShort } from "../files/read-bounded.ts";
import type { GitAnswer } from "../git/git.ts";

export type Guarded = {
  /** Everything that it reads and a worker can shape is below. */
  readonly tree: string;
  readonly run: (signal: AbortSignal) => Promise<GitAnswer>;
  /** Puts in order what a git that was ended leaves behind. */
  readonly again: () => Promise<void>;
  /** Hears of each pipe, socket or device that was removed, by its path in the tree. */
  readonly onSpecial?: (path: string) => void;
};

/**
 * Git opens `.gitignore`, `.gitattributes` and the `HEAD` of inner repositories wherever it comes, and waits if one is
 * a pipe. To look through the tree before each call would cost as much as the call; so only one that takes long is
 * looked into, while it goes on. In a tree without such files it just takes its time.
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
    // Gone by itself, or in a folder that cannot be written: then git is stopped by its own limit of time.
    await unlink(Buffer.concat([Buffer.from(`${tree}/`), path])).catch(() => {});
  }
  if (isDone || found.length === 0) return answer;
  for (const path of found) onSpecial?.(path.toString());
  stopper.abort();
  await answer;
  await again();
  return run(signal);
}

/** Most calls take some 10 ms. */
const SLOW_MS = 1_000;

/** Those that git passes over without a word, because it never takes them for files; of a huge tree, near its top. */
export async function leftSpecials(tree: string): Promise<readonly Buffer[]> {
  let folders = 0;
  const isOver = () => {
    folders += 1;
    return folders > MAX_FOLDERS;
  };
  return specialFiles(tree, isOver, NOT_ENTERED);
}

/** 60 ms, beside the git that lists what was changed. */
const MAX_FOLDERS = 1_000;
/** Nobody's work is in them, and the second has thousands of folders. */
const NOT_ENTERED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Below a folder, as bytes, because names need not be UTF-8; those near its top first. Follows no link. */
async function specialFiles(
  tree: string,
  isOver: () => boolean,
  notEntered: ReadonlySet<string> = new Set(),
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
      if (isFolder && !notEntered.has(entry.name.toString())) folders.push(Buffer.concat([path, SLASH]));
      else if (!isFolder && !entry.isFile() && !entry.isSymbolicLink()) found.push(path);
    }
  }
  return found;
}

const SLASH = Buffer.from("/");

/**
 * Whether git can read a folder of objects without being led elsewhere, or into something without an end: files in
 * folders, and the alternates that it was given.
 */
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
/** What one worker commits is hundreds; a whole repository that somebody fetched would be packed. */
const MAX_OBJECT_FILES = 500_000;
