/** Removes folders that a worker made read-only or very deep, and checks that a path stays inside a folder. */
import { execFile } from "node:child_process";
import { lstat, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/**
 * Never follows a link. Makes read-only folders (a Go module cache) writable if necessary. Paths can be longer
 * than the system accepts at once, so `rm` goes down step by step.
 */
export async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 }); // A git that is just ending may still write.
  } catch {
    await openFolders(path);
    await run("rm", ["-rf", "--", path]);
  }
}

/**
 * Makes all folders enterable and writable, from the top down. The next user of a folder reports one that stays
 * closed.
 */
export async function openFolders(path: string): Promise<void> {
  const closed = ["-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";"];
  if (await isFolder(path)) await run("find", [path, ...closed]).catch(() => {});
}

const run = (command: string, args: readonly string[]) =>
  promisify(execFile)(command, args, { timeout: MAX_MS, killSignal: "SIGKILL" });

/** Time for a few million files. */
const MAX_MS = 120_000;

/** Whether it is a real folder, not a link to one. */
export const isFolder = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;

/** Whether every folder on the way to a path is a real one or missing, so that the path stays inside. */
export async function isReachedInside(folder: string, path: string): Promise<boolean> {
  let at = folder;
  for (const part of dirname(path)
    .split("/")
    .filter((name) => name !== ".")) {
    at = join(at, part);
    const found = await lstat(at).catch(() => undefined);
    if (found === undefined) return true;
    if (!found.isDirectory()) return false;
  }
  return true;
}
