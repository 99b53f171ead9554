/** Keeps runs on disk, each in a folder that appears complete or not at all. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { type Failure, failure } from "../../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Owner, RunHome, RunLock, RunRecord, Runs, UnreadableRun } from "../../ports/runs.ts";
import { closest } from "../../text/closest.ts";
import { quoted } from "../../text/lines.ts";
import { SqliteEventLog } from "../event-logs/sqlite.ts";
import { createLogFile } from "../event-logs/sqlite-file.ts";
import { wordsOf } from "../event-logs/sqlite-words.ts";
import { syncFolder, writeDurably } from "../files/write-whole.ts";
import { removeAll } from "../workspaces/folders.ts";
import { lockRun, ownerOf } from "./run-lock.ts";
import { isRunName, readRecord, recordText } from "./run-record.ts";
import { stopProcess } from "./stop-process.ts";

/** `folder` is the repository's own state folder (see `stateFolderFor`); the first run creates it. */
export class FolderRuns implements Runs {
  readonly #folder: string;

  constructor({ folder }: { readonly folder: string }) {
    this.#folder = path.join(path.resolve(folder), "runs");
  }

  async create(record: RunRecord): Promise<RunHome | Failed> {
    const { run } = record;
    if (!isRunName(run)) return { failure: badName(run) };
    const home = path.join(this.#folder, run);
    const made: string[] = [];
    try {
      if (existsSync(home)) return { failure: takenName(run) };
      await makeFolder(this.#folder, made);
      const draft = await mkdtemp(path.join(this.#folder, ".new-")); // mkdtemp makes it private.
      try {
        await createLogFile(path.join(draft, LOG));
        await writeDurably(path.join(draft, RECORD), recordText(record));
        await rename(draft, home); // Fails if there is a folder that is not empty.
      } catch (error) {
        await rm(draft, { recursive: true, force: true });
        throw error;
      }
      for (const folder of [this.#folder, ...made.map((name) => path.dirname(name))])
        await syncFolder(folder);
      return new FolderRun(record, home, made);
    } catch (error) {
      await removeEmpty(made);
      if (["ENOTEMPTY", "EEXIST"].includes(codeOf(error))) return { failure: takenName(run) };
      const { next, ...why } = unusable(`run ${run} cannot be created in ${this.#folder}`, error);
      // There is no run to resume.
      return { failure: { ...why, ...(next && { next: next.replace("`skein resume`", "start it again") }) } };
    }
  }

  async open(run: string): Promise<RunHome | Failed> {
    if (!isRunName(run)) return { failure: badName(run) };
    const folder = path.join(this.#folder, run);
    const record = await this.#record(run);
    if (hasFailed(record)) return record;
    return existsSync(path.join(folder, LOG))
      ? new FolderRun(record, folder)
      : failedWith(
          "repository",
          `the log of run ${run} is gone: ${path.join(folder, LOG)}`,
          "restore it from a backup, or start a new run",
        );
  }

  async list(): Promise<readonly (RunRecord | UnreadableRun)[]> {
    const names = await this.#names();
    if (!Array.isArray(names)) return [{ ...(names as Failed), run: "" }];
    const records = await Promise.all(names.map(async (run) => ({ ...(await this.#record(run)), run })));
    const age = (entry: RunRecord | UnreadableRun) => (hasFailed(entry) ? -Infinity : entry.createdAt);
    return records.sort((a, b) => (age(a) === age(b) ? 0 : age(b) - age(a)));
  }

  async finishRemoval(run: string): Promise<boolean | Failed> {
    const folder = path.join(this.#folder, run);
    if (!isRunName(run) || existsSync(folder) || !existsSync(asideOf(folder))) return false;
    return (await clear(folder)) ?? true;
  }

  async #record(run: string): Promise<RunRecord | Failed> {
    const file = path.join(this.#folder, run, RECORD);
    try {
      return readRecord(run, file, await readFile(file, "utf8"));
    } catch (error) {
      if (codeOf(error) === "ENOENT" && !existsSync(path.dirname(file))) return this.#unknown(run);
      return { failure: unusable(`the record of run ${run} cannot be read: ${file}`, error) };
    }
  }

  async #unknown(run: string): Promise<Failed> {
    const names = await this.#names();
    return unknownRun(run, Array.isArray(names) ? names : []);
  }

  async #names(): Promise<readonly string[] | Failed> {
    try {
      return (await readdir(this.#folder)).filter(isRunName).sort().reverse();
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      return { failure: unusable(`the runs in ${this.#folder} cannot be listed`, error) };
    }
  }
}

const RECORD = "run.json";
const LOG = "events.db";
/** Briefs and answers of agents are private. */
const PRIVATE = 0o700;

class FolderRun implements RunHome {
  readonly record: RunRecord;
  readonly folder: string;
  readonly log: SqliteEventLog;
  readonly #made: readonly string[];

  /** `made`: parent folders that were created with it. */
  constructor(record: RunRecord, folder: string, made: readonly string[] = []) {
    this.record = record;
    this.folder = folder;
    this.#made = made;
    this.log = new SqliteEventLog(path.join(folder, LOG));
  }

  async lock(): Promise<RunLock | Failed> {
    const lock = await lockRun(this.record.run, this.folder);
    if (hasFailed(lock)) return lock;
    const release = async () => {
      this.log.close(); // Closed before the next writer may begin.
      await lock.release();
    };
    const discard = async () => {
      this.log.close();
      // Still locked, so that no process can begin in it. On a read-only disk it stays, and is listed.
      const failed = await removeHome(this.folder);
      await lock.release();
      await removeEmpty(this.#made);
      return failed;
    };
    return { release, discard, lost: NEVER };
  }

  isThere(): boolean {
    return [RECORD, LOG].every((name) => existsSync(path.join(this.folder, name)));
  }

  async hasJobs(): Promise<boolean> {
    const jobs = await readdir(path.join(this.folder, "jobs")).catch(() => []); // No job was begun yet.
    return jobs.length > 0;
  }

  async owner(): Promise<Owner | undefined> {
    return ownerOf(this.folder);
  }

  async stop(owner: Owner, isUrgent: boolean): Promise<Failed | undefined> {
    return stopProcess(owner, isUrgent);
  }
}

/** Never settles, because the system frees the lock when its process ends, and not before. */
const NEVER = new Promise<never>(() => {});

/** Renames the folder before removing it: half a folder would be listed, and could neither be resumed nor removed. */
async function removeHome(folder: string): Promise<Failed | undefined> {
  try {
    await removeAll(asideOf(folder));
    await rename(folder, asideOf(folder));
    await syncFolder(path.dirname(folder));
  } catch (error) {
    return { failure: unusable(`${folder} cannot be removed`, error) };
  }
  return clear(folder);
}

/** A path beside the run that is not a valid name of a run. */
const asideOf = (folder: string): string =>
  path.join(path.dirname(folder), `.removed-${path.basename(folder)}`);

async function clear(folder: string): Promise<Failed | undefined> {
  try {
    await removeAll(asideOf(folder));
    return undefined;
  } catch (error) {
    return { failure: unusable(`${asideOf(folder)} cannot be removed`, error) };
  }
}

/**
 * Makes one folder at a time, because on a read-only disk Node's recursive mkdir reports a missing folder. New
 * folders are added to `made`.
 */
async function makeFolder(folder: string, made: string[]): Promise<void> {
  if (existsSync(folder)) return;
  await makeFolder(path.dirname(folder), made);
  try {
    await mkdir(folder, { mode: PRIVATE });
    made.push(folder);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error; // Two runs may begin at once.
  }
}

/** Removes the innermost folder first; a folder that is not empty stays. */
async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) await rmdir(folder).catch(() => {}); // An empty folder is harmless.
}

const codeOf = (error: unknown): string => String((Object(error) as { code?: unknown }).code ?? "");

function unusable(what: string, error: unknown): Failure {
  const { why, next } = wordsOf(error);
  return failure("repository", `${what}: ${why}`, next);
}

export const takenName = (run: string) =>
  failure(
    "repository",
    `there is a run ${run} already`,
    `choose another name, or go on with \`skein resume ${run}\``,
  );

export const badName = (run: string) =>
  failure(
    "repository",
    `${quoted(run)} cannot be the name of a run: up to 40 small letters, digits and "-", a letter or digit first`,
    "`skein status` lists the runs of this repository",
  );

export function unknownRun(run: string, names: readonly string[]): Failed {
  const near = closest(run, names);
  const hint = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
  return failedWith(
    "repository",
    `there is no run ${quoted(run)}${hint}`,
    "`skein status` lists the runs of this repository",
  );
}
