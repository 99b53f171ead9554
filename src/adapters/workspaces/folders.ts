/** How is a folder removed that somebody made read-only, and which one is it really? */
import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Never follows a link. Read-only folders (a Go module cache) are made writable first, if they have to be. */
export async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await openUp(path);
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A real one, and no link to one. */
export const isFolder = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;

async function openUp(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await openUp(join(path, name));
}

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
