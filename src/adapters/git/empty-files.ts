/** What does a power cut leave that breaks git? Empty files, and locks of processes that are gone. */
import { execFile } from "node:child_process";
import { readdir, rm, stat } from "node:fs/promises";
import { uptime } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

/** `refs`: full names of those that were empty. */
type Dropped = { readonly objects: number; readonly refs: readonly string[] };

/**
 * Removes empty loose objects; and in these ref folders, empty refs and locks from before the last boot. Git never
 * writes empty ones, because it renames complete files. An empty object hides a good one in a pack, and keeps git
 * from writing it again.
 */
export async function dropEmpty(gitDir: string, refFolders: readonly string[]): Promise<Dropped> {
  const objects = await emptyObjects(path.join(gitDir, "objects"));
  for (const file of objects) await rm(file, { force: true });
  const refs: string[] = [];
  for (const folder of refFolders)
    for (const name of await readdir(path.join(gitDir, folder), { recursive: true }).catch(() => [])) {
      const ref = `${folder}/${name}`;
      const found = await stat(path.join(gitDir, ref)).catch(() => undefined); // Removed just now.
      if (!found?.isFile()) continue;
      const isLock = ref.endsWith(".lock");
      if (isLock ? found.mtimeMs >= startedAt() : found.size > 0) continue;
      await rm(path.join(gitDir, ref), { force: true });
      if (!isLock) refs.push(ref);
    }
  return { objects: objects.length, refs };
}

/** When the machine was booted, by its own clock. */
const startedAt = () => Date.now() - uptime() * 1000;

/** By `find`, because a long run has a hundred thousand objects. None if it cannot look. */
async function emptyObjects(folder: string): Promise<readonly string[]> {
  const options = { timeout: MAX_MS, maxBuffer: MAX_BYTES };
  const found = promisify(execFile)("find", [folder, "-type", "f", "-size", "0"], options);
  const { stdout } = await found.catch((error: { readonly stdout: string }) => error); // A folder that it may not enter.
  return stdout.split("\n").filter((file) => LOOSE.test(file));
}

/** Other files may be empty, such as the marker files beside a pack. */
const LOOSE = /\/[0-9a-f]{2}\/(?:[0-9a-f]{38}|[0-9a-f]{62})$/;
const MAX_MS = 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
