/** Manages a run's place in git and on disk: its target, the refs that keep its objects, and its folder. */

import { execFile } from "node:child_process";
import { glob, readdir, rm, stat } from "node:fs/promises";
import { uptime } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { type Failure, messageOf } from "../../core/failure.ts";
import type { RunState } from "../../core/log/state.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { RunHome } from "../../ports/runs.ts";
import { Wakes } from "../files/wakes.ts";
import { forbiddenFilter } from "../git/filters.ts";
import { syncRefs } from "../git/refs.ts";
import type { Shelf } from "../git/shelf.ts";
import { holdBase, letGo } from "../repositories/held.ts";
import { createTarget } from "../repositories/locate.ts";
import { refOf } from "../repositories/names.ts";
import { removeBrokenRefs, restoreTarget } from "../repositories/restore.ts";
import { retireBranches } from "../repositories/retire.ts";
import { noteRepository } from "./moved.ts";

type GitPlaceOptions = {
  readonly top: string;
  readonly gitDir: string;
  readonly stateFolder: string;
  readonly home: RunHome;
  readonly target: string;
  readonly shelf: Shelf;
  /** Names of git filters that may run in workspaces. */
  readonly filters: readonly string[];
  /** Whether the branches of attempts stay when the run is closed. */
  readonly keepBranches: boolean;
};

export class GitPlace {
  readonly #options: GitPlaceOptions;

  constructor(options: GitPlaceOptions) {
    this.#options = options;
  }

  async makeTarget(signal: AbortSignal): Promise<"made" | "elsewhere" | Failed> {
    const { top, gitDir, home, target } = this.#options;
    const made = await createTarget(top, target, home.record.base, signal);
    if (hasFailed(made)) return made;
    if (made.is === "elsewhere") return "elsewhere";
    await syncRefs(gitDir, [refOf(target)]);
    return "made";
  }

  restore(state: RunState, signal: AbortSignal): Promise<readonly string[] | Failed> {
    const { home, gitDir, shelf, target } = this.#options;
    const { folder, record } = home;
    return restoreRun({ gitDir, shelf, folder, target, run: record.run, base: record.base, state }, signal);
  }

  async hold(): Promise<Failed | undefined> {
    const { top, gitDir, stateFolder, home } = this.#options;
    const unheld = await holdBase(top, home.record.run, home.record.base);
    if (unheld) return unheld;
    await noteRepository(stateFolder, gitDir);
    return undefined;
  }

  /**
   * First puts back objects that a `git prune` has removed. Branches that cannot be removed now stay, which does
   * no harm.
   */
  async letGo(state: RunState): Promise<Failed | undefined> {
    const { top, gitDir, home, target, shelf, keepBranches } = this.#options;
    try {
      await shelf.putBack();
      const retired = { top, gitDir, run: home.record.run, target, landed: landedIn(state) };
      if (!keepBranches) await retireBranches(retired);
      const held = await letGo(top, home.record.run, { target });
      if (!held) await shelf.clear();
      return held;
    } catch (error) {
      return failedWith("repository", messageOf(error)); // The disk is full or gone, for example.
    }
  }

  filterProblem(signal: AbortSignal): Promise<Failure | undefined> {
    const { top, gitDir, home, filters } = this.#options;
    return forbiddenFilter({ top, gitDir, commit: home.record.base, allowed: filters }, signal);
  }

  async gone(signal: AbortSignal): Promise<void> {
    const { home } = this.#options;
    using wakes = new Wakes(home.folder);
    while (!signal.aborted && home.isThere()) await wakes.next(signal);
  }
}

/**
 * Commits that attempts handed in and that landed, alone or in a batch: the target has them, perhaps as other
 * commits.
 */
const landedIn = ({ tasks }: RunState): readonly string[] =>
  [...tasks.values()].flatMap(({ state }) =>
    state.is === "done" && state.commit !== undefined && state.handoff.commit !== undefined
      ? [state.handoff.commit]
      : [],
  );

/** A run to repair before it goes on, after a power cut or a `git prune`, with what the log knows of it. */
type DamagedRun = {
  readonly gitDir: string;
  readonly shelf: Shelf;
  readonly folder: string;
  readonly run: string;
  readonly base: string;
  readonly target: string;
  readonly state: RunState;
};

/** Returns sentences about what was repaired; fails if the target is lost with its commits. */
async function restoreRun(damaged: DamagedRun, signal: AbortSignal): Promise<readonly string[] | Failed> {
  const { gitDir, shelf, folder, run, base, target, state } = damaged;
  const records = await dropRecords(folder);
  const above = path.dirname(target);
  const dropped = await dropEmpty(gitDir, [`refs/heads/${above}`, "refs/notes/skein", "refs/skein"]);
  await shelf.putBack();
  const said = [
    ...counted(dropped.objects, "empty object", "in the repository"),
    ...counted(dropped.refs.length, "empty ref", "in the repository"),
    ...counted(records, "empty record", "of the run"),
  ];
  if (state.tips.size === 0) return said;
  const tips = [...[...state.tips].filter((tip) => tip !== state.target.tip), state.target.tip];
  // If the ref's file was empty, git may have an older value among its packed refs.
  const isEmptied = dropped.refs.includes(`refs/heads/${target}`);
  const restored = await restoreTarget({ gitDir, branch: target, base, tips, isEmptied }, signal);
  if (hasFailed(restored)) return restored;
  if (restored.is === "restored")
    said.push(`the target ${target} was lost, and is again at ${restored.at}, where the log has it`);
  const removed = await removeBrokenRefs({ gitDir, run, base, target, branches: `${above}/` }, signal);
  if (hasFailed(removed)) return removed;
  return [...said, ...removed.map((ref) => `${ref} was removed: what it led to is not in the repository`)];
}

const counted = (count: number, what: string, where: string): readonly string[] =>
  count === 0 ? [] : [`${count} ${what}${count === 1 ? "" : "s"} ${where} removed`];

/** Removes empty records, which readers treat as missing. */
async function dropRecords(folder: string): Promise<number> {
  let count = 0;
  for await (const name of glob(RECORDS, { cwd: folder })) {
    const file = path.join(folder, name);
    const found = await stat(file).catch(() => undefined); // It was removed meanwhile.
    if (!found?.isFile() || found.size > 0) continue;
    await rm(file, { force: true });
    count += 1;
  }
  return count;
}

/** Without the files in a turn's own folder, which is the agent's. */
const RECORDS = ["jobs/*/*.json", "turns/*.said.json", "turns/*.status", "programs/*.program.json"];

/** `refs`: full names of those that were empty. */
type Dropped = { readonly objects: number; readonly refs: readonly string[] };

/**
 * Removes empty loose objects; and in these ref folders, empty refs and locks from before the last boot. Git never
 * writes empty files, because it renames complete ones. An empty object hides a good one in a pack, and keeps git
 * from writing it again.
 */
async function dropEmpty(gitDir: string, refFolders: readonly string[]): Promise<Dropped> {
  const objects = await emptyObjects(path.join(gitDir, "objects"));
  for (const file of objects) await rm(file, { force: true });
  const refs: string[] = [];
  for (const folder of refFolders)
    for (const name of await readdir(path.join(gitDir, folder), { recursive: true }).catch(() => [])) {
      const ref = `${folder}/${name}`;
      const found = await stat(path.join(gitDir, ref)).catch(() => undefined); // It was removed just now.
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

/** Searches by `find`, because a long run has a hundred thousand objects. Empty if `find` cannot run. */
async function emptyObjects(folder: string): Promise<readonly string[]> {
  const options = { timeout: MAX_MS, maxBuffer: MAX_BYTES };
  const found = promisify(execFile)("find", [folder, "-type", "f", "-size", "0"], options);
  const { stdout } = await found.catch((error: { readonly stdout: string }) => error); // A folder may be unreadable.
  return stdout.split("\n").filter((file) => LOOSE.test(file));
}

/** Only loose objects: other files may be empty, such as the marker files beside a pack. */
const LOOSE = /\/[0-9a-f]{2}\/(?:[0-9a-f]{38}|[0-9a-f]{62})$/;
const MAX_MS = 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
