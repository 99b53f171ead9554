/** Makes a temporary folder below the state folder for an agent that works outside of any run. */
import { mkdir, mkdtemp, readdir, rename, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { failure, messageOf } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { LocalPrograms } from "../programs/local.ts";
import { removeAll } from "../workspaces/folders.ts";
import { lockRun } from "./run-lock.ts";

type PlanningPlace = {
  readonly folder: string;
  readonly programs: LocalPrograms;
  /** Ends running programs, and removes everything. Returns what could not be removed. */
  readonly close: () => Promise<readonly string[]>;
};

/** First removes what killed processes left, including their programs. */
export async function openPlanningPlace(stateFolder: string): Promise<PlanningPlace | Failed> {
  const above = path.join(stateFolder, "planning");
  try {
    const first = await mkdir(above, { recursive: true, mode: 0o700 });
    await removeLeftovers(above);
    // Gets its final name only once it is locked: other processes take an unlocked one for a leftover.
    const draft = await mkdtemp(path.join(above, DRAFT));
    const lock = await lockRun("planning", draft);
    if (hasFailed(lock)) {
      await removeAll(draft);
      return lock;
    }
    const folder = path.join(above, path.basename(draft).replace(DRAFT, "plan-"));
    await rename(draft, folder);
    const programs = programsIn(folder);
    const close = async () => {
      await programs.endAll();
      await lock.release();
      const left = await removed(folder);
      await removeEmpty(above, first ?? above);
      return left;
    };
    return { folder, programs, close };
  } catch (error) {
    const why = `${above} cannot be used: ${messageOf(error)}`;
    return { failure: failure("repository", why, "make room on that disk, or make the folder writable") };
  }
}

const DRAFT = ".new-";
/** Between making a folder and locking it are only milliseconds. */
const MAX_DRAFT_AGE_MS = 60 * 60_000;

const programsIn = (folder: string) => new LocalPrograms({ folder: path.join(folder, "programs") });

async function removeLeftovers(above: string): Promise<void> {
  for (const name of await readdir(above)) {
    const folder = path.join(above, name);
    if (name.startsWith(DRAFT) && !(await isOld(folder))) continue;
    if (!name.startsWith(DRAFT) && !name.startsWith("plan-")) continue; // Not a folder of this kind.
    const lock = await lockRun("planning", folder);
    if (hasFailed(lock)) continue; // Another process works there.
    await programsIn(folder).endAll();
    await lock.release();
    await removed(folder);
  }
}

const isOld = async (folder: string): Promise<boolean> =>
  Date.now() - (await stat(folder).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs > MAX_DRAFT_AGE_MS;

const removed = (folder: string): Promise<readonly string[]> =>
  removeAll(folder).then(
    () => [],
    (error: unknown) => [`${folder}: ${messageOf(error)}`],
  );

/** Removes empty folders, up to the first that was created with this one; a folder with other contents stays. */
async function removeEmpty(folder: string, first: string): Promise<void> {
  for (let at = folder; at.startsWith(first); at = path.dirname(at)) {
    const isGone = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}
