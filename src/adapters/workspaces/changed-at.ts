/** Finds when something in a folder last changed, by the times of its files and folders, within limits. */
import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** The newest time of its files, in ms; 0 if it has none. Times in the future are ignored. */
export async function changedAt(folder: string, signal: AbortSignal): Promise<number> {
  const now = Date.now();
  let newest = 0;
  let left = MAX_ENTRIES;
  // A folder's own time changes with the names in it, so a skipped folder still shows in the one above it.
  const folders = [folder];
  for (let next = folders.shift(); next !== undefined && left > 0; next = folders.shift()) {
    for await (const entry of entriesOf(next)) {
      if (signal.aborted || left <= 0) return newest;
      left -= 1;
      const path = join(next, entry.name);
      const time = await timeOf(path);
      if (time <= now) newest = Math.max(newest, time);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path);
    }
  }
  return newest;
}

/** This many take about a second, and the search only runs after minutes of silence. */
const MAX_ENTRIES = 50_000;

/** Installed before the turn began; new entries show in the time of the folder itself. */
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".venv"]);

async function* entriesOf(folder: string): AsyncIterable<Dirent> {
  try {
    for await (const entry of await opendir(folder)) yield entry;
  } catch {
    // The folder is gone, or not readable.
  }
}

async function timeOf(path: string): Promise<number> {
  try {
    return Math.floor((await lstat(path)).mtimeMs);
  } catch {
    return 0; // The file is gone, which shows in the time of its folder.
  }
}
