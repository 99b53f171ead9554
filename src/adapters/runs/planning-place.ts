/** Where does an agent work that belongs to no run? In a folder of its own below the state folder, which never stays. */
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
  /** Ends what runs, and removes everything. Says what could not be removed. */
  readonly close: () => Promise<readonly string[]>;
};

/** What killed processes left is removed first: their programs, too. */
export async function openPlanningPlace(stateFolder: string): Promise<PlanningPlace | Failed> {
  const above = path.join(stateFolder, "planning");
  try {
    const first = await mkdir(above, { recursive: true, mode: 0o700 });
    await removeLeftovers(above);
    // Under its final name only once it is locked: an unlocked one is a leftover to others.
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
/** Between making a folder and locking it are ms. */
const MAX_DRAFT_AGE_MS = 60 * 60_000;

const programsIn = (folder: string) => new LocalPrograms({ folder: path.join(folder, "programs") });

async function removeLeftovers(above: string): Promise<void> {
  for (const name of await readdir(above)) {
    const folder = path.join(above, name);
    if (name.startsWith(DRAFT) && !(await isOld(folder))) continue;
    if (!name.startsWith(DRAFT) && !name.startsWith("plan-")) continue; // Nobody's here to remove.
    const lock = await lockRun("planning", folder);
    if (hasFailed(lock)) continue; // Somebody is at work there.
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

/** Up to the first that came into being with it; one in which somebody else has put something stays. */
async function removeEmpty(folder: string, first: string): Promise<void> {
  for (let at = folder; at.startsWith(first); at = path.dirname(at)) {
    const isGone = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}
