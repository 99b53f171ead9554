/** Finds what earlier holders of a workspace left in it: untracked files that are older than its last checkout. */
import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith } from "../../core/result.ts";
import { fieldsIn } from "../git/git.ts";
import { gitInSlot, type Slot } from "./slot.ts";
import type { Source } from "./source.ts";

/**
 * Asked only after a failure, because it costs a walk through the tree. By the times of the disk itself: the slot was
 * made when its last mark was written (`markMade`), and the holder came when `start` was. What was changed between the
 * two was left; what copies and set-up brought was there before.
 */
export async function leftoversIn(
  slot: Slot,
  source: Source,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  try {
    const [made, start] = await Promise.all([lstat(slot.made), lstat(slot.start)]);
    if (made.mtimeMs >= start.mtimeMs) return []; // It was made for this holder.
    const changed = await changedSince(slot, signal);
    const listed = await gitInSlot(slot, source, { args: ["ls-files", "-z"] }, signal);
    if (!listed.ok) return { failure: listed.failure };
    const tracked = new Set(fieldsIn(listed.out));
    const untracked = changed.filter((file) => !tracked.has(file));
    const isOld = await Promise.all(
      untracked.slice(0, MAX_LOOKED_AT).map((file) => wasBefore(join(slot.tree, file), start.mtimeMs)),
    );
    return untracked.filter((_, i) => isOld[i]);
  } catch (thrown) {
    return failedWith("repository", `it is not known what was left in ${slot.tree}: ${messageOf(thrown)}`);
  }
}

/** Also empty folders: a rule that makes one fails where it is there. */
async function changedSince({ tree, made }: Slot, signal: AbortSignal): Promise<readonly string[]> {
  const changed = ["-cnewer", made, "(", "!", "-type", "d", "-o", "-empty", ")", "-print0"];
  const args = [tree, "-path", join(tree, ".git"), "-prune", "-o", ...changed];
  const options = { timeout: MAX_MS, maxBuffer: MAX_BYTES, signal };
  const { stdout } = await promisify(execFile)("find", args, options);
  return fieldsIn(stdout).map((file) => relative(tree, file));
}

/** A file that was written anew in place keeps the time of its birth, where the disk knows that. */
async function wasBefore(file: string, ms: number): Promise<boolean> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) return false;
  return (found.birthtimeMs > 0 ? found.birthtimeMs : found.ctimeMs) < ms;
}

/** A tree of a million files takes seconds. */
const MAX_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Most of them are named by nobody; the rest only makes the list longer. */
const MAX_LOOKED_AT = 20_000;
