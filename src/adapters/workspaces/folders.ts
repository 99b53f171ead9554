/** How is a folder removed that somebody made read-only or far too deep, and which one is it really? */
import { execFile } from "node:child_process";
import { lstat, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Never follows a link. Read-only folders (a Go module cache) are made writable first, if they have to be. Paths that
 * are longer than the system takes at once can be made, but not removed by name: `find` and `rm` go down step by step.
 */
export async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 }); // A git that is just ending may still write.
  } catch {
    await openFolders(path);
    await run("rm", ["-rf", "--", path]);
  }
}

/** Makes all that can be entered and written, from the top down. Whoever uses them next says which could not be. */
export async function openFolders(path: string): Promise<void> {
  const closed = ["-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";"];
  if (await isFolder(path)) await run("find", [path, ...closed]).catch(() => {});
}

function run(command: string, args: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  execFile(command, args, { timeout: MAX_MS, killSignal: "SIGKILL" }, (error) =>
    error ? reject(error) : resolve(),
  );
  return promise;
}

/** A few million files. */
const MAX_MS = 120_000;

/** A real one, and no link to one. */
export const isFolder = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;

/** Whether every folder on the way to a path is a real one, or not there yet: so that nothing outside is meant. */
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
