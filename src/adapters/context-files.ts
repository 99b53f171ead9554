/** Lists and reads the files of a folder and its recent changes, by git if the folder has a repository. */
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../core/failure.ts";
import { type Failed, failedWith } from "../core/result.ts";
import type { FileChange, FileSource } from "../ports/subtasks.ts";
import { readInside } from "./agents/tools/open-inside.ts";
import { inside, isOfGit, isRefused, rootOf } from "./agents/tools/reach.ts";
import { git } from "./git/git.ts";

export function folderSource(folder: string): FileSource {
  const root = rootOf(folder);
  return {
    list: (signal) => list(root.real, signal),
    async read(name) {
      try {
        const at = await inside(root, name);
        if (isRefused(at)) return unreadable(at.refused);
        if (isOfGit(at.name)) return unreadable("it is git's own");
        const read = await readInside(root, at, MAX_BYTES);
        if (read.is === "too-large") return unreadable(`it has ${read.size} bytes, more than ${MAX_BYTES}`);
        if (read.is !== "bytes") return unreadable("it is not a file");
        return read.bytes.includes(0) ? unreadable("it is not text") : { text: read.bytes.toString() };
      } catch (thrown) {
        const { code } = thrown as NodeJS.ErrnoException;
        return unreadable(
          code === "ENOENT" || code === "ENOTDIR" ? "there is no such file" : messageOf(thrown),
        );
      }
    },
    changes: (signal) => changesIn(root.real, signal),
  };
}

const unreadable = (why: string): Failed => failedWith("repository", why);

const MAX_BYTES = 256 * 1024;
/** In a larger repository only the first files are matched; files that are named are read anyway. */
const MAX_FILES = 20_000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
const MAX_CHANGES = 500;

async function list(folder: string, signal: AbortSignal): ReturnType<FileSource["list"]> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const listed = await git({ folder, args, maxBytes: MAX_LIST_BYTES, cut: true }, signal);
  const names = listed.ok ? listed.out.split("\0").slice(0, -1) : await walk(folder, signal);
  if (signal.aborted) return failedWith("interrupted", "stopped while files were listed");
  const found = [];
  for (const name of names.slice(0, MAX_FILES)) {
    const stats = await lstat(path.join(folder, name)).catch(() => undefined); // Deleted, but still in the index.
    if (stats?.isFile()) found.push({ path: name, version: `${stats.mtimeMs} ${stats.size} ${stats.ino}` });
  }
  return found;
}

/** Lists a folder without git; hidden files and installed packages are left out. */
async function walk(folder: string, signal: AbortSignal): Promise<readonly string[]> {
  const names: string[] = [];
  const folders = [""];
  for (let at = folders.pop(); at !== undefined && names.length < MAX_FILES; at = folders.pop()) {
    if (signal.aborted) break;
    const entries = await readdir(path.join(folder, at), { withFileTypes: true }).catch(() => []); // Unreadable.
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const name = path.posix.join(at, entry.name);
      if (entry.isDirectory()) folders.push(name);
      else if (entry.isFile()) names.push(name);
    }
  }
  return names;
}

/** The newest commits with their files; empty without a history. */
async function changesIn(folder: string, signal: AbortSignal): Promise<readonly FileChange[]> {
  const args = [
    "log",
    `-${MAX_CHANGES}`,
    "--no-merges",
    "--name-only",
    "--relative",
    "-z",
    "--format=%x01%s%x00",
    "--",
    ".",
  ];
  const log = await git({ folder, args, maxBytes: MAX_LIST_BYTES, cut: true }, signal);
  if (!log.ok) return [];
  return log.out
    .split("\x01")
    .slice(1)
    .map((entry) => {
      const [subject = "", ...paths] = entry.split("\0");
      return { subject, paths: paths.map((name) => name.trim()).filter((name) => name !== "") };
    });
}
