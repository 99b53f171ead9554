/** Fills a new workspace with the files of a free one by sharing disk blocks, on disks that can (btrfs, xfs). */
import { constants } from "node:fs";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Program, Programs } from "../../ports/programs.ts";
import { fieldsIn, type GitAnswer } from "../git/git.ts";
import { gitInSlot, type Slot } from "./slot.ts";
import type { Source } from "./source.ts";

type Sharing = {
  /** A free slot with the same commit checked out; changes of its last holder are still there. */
  readonly from: Slot;
  readonly to: Slot;
  readonly commit: string;
  readonly source: Source;
  readonly programs: Programs;
  /** The job and environment of the copying process. */
  readonly by: Omit<Program, "command" | "folder" | "input">;
};

/**
 * Copies only files that the last holder left as they were checked out, which git sees by the time of an inode's
 * last change, which cannot be set. The index is made from the content of the copies, so that the checkout which
 * follows replaces whatever is missing or wrong, also if another holder gets `from` meanwhile. A failure only
 * costs disk space.
 */
export async function shareBlocks(sharing: Sharing, signal: AbortSignal): Promise<void> {
  const { from, to, commit, source, programs, by } = sharing;
  if (process.platform !== "linux" || !(await canShare(to))) return; // Other systems have no GNU cp.
  const files = await unchangedFiles(sharing, signal);
  if (files.length === 0 || !(await makeFolders(to.tree, files))) return;
  const command = ["xargs", "-0", "cp", "-RP", "--parents", "--reflink=always", "-t", to.tree, "--"] as const;
  const input = files.map((file) => `${file}\0`).join("");
  const limits = {
    ...by.limits,
    maxMs: Math.min(by.limits.maxMs, MAX_MS),
    maxFileBytes: Number.POSITIVE_INFINITY,
  };
  await programs.run({ ...by, command, folder: from.tree, input, limits }, signal);
  await gitInSlot(to, source, { args: ["read-tree", commit] }, signal);
  await gitInSlot(to, source, { args: ["update-index", "-q", "--refresh"] }, signal);
}

/**
 * 100,000 files take seconds. `-R` copies a pipe that a next holder puts there meanwhile, instead of reading from
 * it.
 */
const MAX_MS = 120_000;

/** Makes the folders with Skein's own modes: `cp` would take over those that the last holder set. */
async function makeFolders(tree: string, files: readonly string[]): Promise<boolean> {
  try {
    const folders = new Set(files.map((file) => dirname(file)));
    for (const folder of folders) await mkdir(join(tree, folder), { recursive: true });
    return true;
  } catch {
    return false; // A full disk: the checkout reports it.
  }
}

/** Whether the disk can share blocks, tried with a file that exists anyway. */
async function canShare({ start, folder }: Slot): Promise<boolean> {
  const probe = join(folder, "probe");
  try {
    await copyFile(start, probe, constants.COPYFILE_FICLONE_FORCE);
    await rm(probe);
    return true;
  } catch {
    return false; // Most disks cannot.
  }
}

/** Files and links of the commit that are unchanged. The folder of a submodule stays empty. */
async function unchangedFiles(
  { from, to, source }: Sharing,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const environment = { GIT_WORK_TREE: from.tree, GIT_INDEX_FILE: join(from.git, "index") };
  const ask = (...args: readonly string[]): Promise<GitAnswer> =>
    gitInSlot(to, source, { args, folder: from.tree, environment }, signal);
  const [listed, changed] = await Promise.all([
    ask("ls-files", "--stage", "-z"),
    ask("diff-files", "--name-only", "-z"),
  ]);
  if (!listed.ok || !changed.ok) return [];
  const isChanged = new Set(fieldsIn(changed.out));
  return fieldsIn(listed.out).flatMap((record) => {
    const path = record.slice(record.indexOf("\t") + 1);
    return /^1[02]0/.test(record) && !isChanged.has(path) ? [path] : [];
  });
}
