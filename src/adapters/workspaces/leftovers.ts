/** Finds the untracked files that earlier holders of a workspace left there, and those that they removed. */
import { execFile } from "node:child_process";
import { lstat, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith } from "../../core/result.ts";
import type { WorkspaceLeftovers } from "../../ports/workspaces.ts";
import { fieldsIn } from "../git/git.ts";
import { gitInSlot, type Slot } from "./slot.ts";
import type { Source } from "./source.ts";

/**
 * Asked only after a failure, because it costs a walk through the tree. Decides by times of the disk: the slot was
 * made when its last mark was written (`markMade`), and the present holder began when `start` was written. A file
 * that was changed between the two was left. Files that copies and set-up brought existed before; one of these
 * that is missing now was removed, perhaps by the present holder, which cannot be told apart.
 */
export async function leftoversIn(
  slot: Slot,
  source: Source,
  signal: AbortSignal,
): Promise<WorkspaceLeftovers | Failed> {
  try {
    const [made, start] = await Promise.all([lstat(slot.made), lstat(slot.start)]);
    if (made.mtimeMs >= start.mtimeMs) return { left: [], removed: [] }; // The slot was made for this holder.
    const changed = await untrackedIn(slot, source, ["-cnewer", slot.made], signal);
    const isOld = await Promise.all(
      changed.slice(0, MAX_LOOKED_AT).map((file) => wasBefore(join(slot.tree, file), start.mtimeMs)),
    );
    return { left: changed.filter((_, i) => isOld[i]), removed: await removedFrom(slot, source, signal) };
  } catch (thrown) {
    return failedWith("repository", `it is not known what was left in ${slot.tree}: ${messageOf(thrown)}`);
  }
}

/**
 * Lists the untracked files of a new workspace whose later holders get it as it is left. If they cannot be listed,
 * later removals are not found. `isBare`: nothing was copied, linked or set up.
 */
export async function listBrought(
  slot: Slot,
  source: Source,
  isBare: boolean,
  signal: AbortSignal,
): Promise<void> {
  const brought = isBare ? [] : await untrackedIn(slot, source, [], signal).catch(() => undefined);
  if (brought) await writeFile(slot.brought, brought.map((file) => `${file}\0`).join(""));
}

/** Lists untracked files, and empty folders, because a rule that makes a folder fails if it exists. */
async function untrackedIn(
  slot: Slot,
  source: Source,
  only: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { tree } = slot;
  const entries = [...only, "(", "!", "-type", "d", "-o", "-empty", ")", "-print0"];
  const args = [tree, "-path", join(tree, ".git"), "-prune", "-o", ...entries];
  const options = { timeout: MAX_MS, maxBuffer: MAX_BYTES, signal };
  const { stdout } = await promisify(execFile)("find", args, options);
  const listed = await gitInSlot(slot, source, { args: ["ls-files", "-z"] }, signal);
  if (!listed.ok) throw new Error(listed.failure.message);
  const tracked = new Set(fieldsIn(listed.out));
  return fieldsIn(stdout)
    .map((file) => relative(tree, file))
    .filter((file) => file !== "" && !tracked.has(file));
}

async function removedFrom(slot: Slot, source: Source, signal: AbortSignal): Promise<readonly string[]> {
  const brought = fieldsIn(await readFile(slot.brought, "utf8"));
  if (brought.length === 0) return [];
  const now = new Set(await untrackedIn(slot, source, [], signal));
  const missing = brought.filter((file) => !now.has(file)).slice(0, MAX_LOOKED_AT);
  // It may be tracked by now, or a folder that is not empty any more.
  const there = await Promise.all(missing.map((file) => found(join(slot.tree, file))));
  return missing.filter((_, i) => there[i] === undefined);
}

const found = (file: string) => lstat(file).catch(() => undefined);

/**
 * Whether a file existed at that time. A file that was rewritten in place keeps the time of its birth, if the disk
 * records that.
 */
async function wasBefore(file: string, ms: number): Promise<boolean> {
  const there = await found(file);
  if (there === undefined) return false;
  return (there.birthtimeMs > 0 ? there.birthtimeMs : there.ctimeMs) < ms;
}

/** A tree of a million files takes seconds. */
const MAX_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** The list is cut here: few of them are ever mentioned in an output. */
const MAX_LOOKED_AT = 20_000;
