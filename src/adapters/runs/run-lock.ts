/** Who writes this run? The process that holds SQLite's lock on a file: the system frees it however that process ends. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { failure } from "../../core/failure.ts";
import type { Failed } from "../../ports/repository.ts";
import type { Owner, RunLock } from "../../ports/runs.ts";
import { wordsOf } from "../event-logs/sqlite-words.ts";
import { startOf } from "../programs/process-start.ts";

/** Nothing else in this process may open and close the lock's file: the system would free the lock. */
const LOCK = "lock.db";
const OWNER = "owner.json";
/** Somebody who only asks who the owner is keeps the file for microseconds. */
const BUSY_MS = 200;

export type HeldLock = Pick<RunLock, "release">;

export async function lockRun(run: string, folder: string): Promise<HeldLock | Failed> {
  const file = path.join(folder, LOCK);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { timeout: BUSY_MS });
    db.exec("PRAGMA journal_mode = delete; BEGIN EXCLUSIVE");
    await writeOwner(folder);
    return hold(db, folder);
  } catch (error) {
    db?.close();
    if (isBusy(error)) return { failure: await refused(run, folder) };
    const { why, next } = wordsOf(error);
    return { failure: failure("repository", `run ${run} cannot be locked: ${file}: ${why}`, next) };
  }
}

/** Kept here, because a connection that nobody refers to is closed, and who locks may forget its lock. */
const held = new Set<DatabaseSync>();

function hold(db: DatabaseSync, folder: string): HeldLock {
  held.add(db);
  const release = async () => {
    if (!held.delete(db)) return;
    try {
      rmSync(path.join(folder, OWNER), { force: true }); // While it is ours: later it may be the next one's.
    } catch {
      // The disk may only be read by now. What stays names a process that holds no lock: nobody believes it.
    } finally {
      db.close();
    }
  };
  return { release };
}

async function refused(run: string, folder: string) {
  const owner = await said(folder);
  const who = owner?.isHere
    ? `process ${owner.pid}, since ${new Date(owner.since).toISOString()}`
    : "another process, which cannot be seen from here";
  const next = owner?.isHere
    ? `wait until it ends, or end it with \`skein stop ${run}\``
    : "wait until it ends, or end it where it runs: in another container, or on another machine";
  return failure("repository", `run ${run} is already under way: ${who}`, next);
}

/**
 * Undefined if nobody holds the lock, or one who cannot be seen from here: its number may be a stranger's, who must not
 * be asked to stop. To lock the run is refused all the same. Does not wait for the lock, nor take it, so that two who
 * ask do not meet.
 */
export async function ownerOf(folder: string): Promise<Owner | undefined> {
  if (!isLocked(folder)) return undefined;
  const owner = await said(folder);
  if (owner) return owner.isHere ? { pid: owner.pid, since: owner.since } : undefined;
  if (!isLocked(folder)) return undefined;
  throw new Error(`${path.join(folder, LOCK)} is locked, but ${OWNER} beside it does not say by whom`);
}

function isLocked(folder: string): boolean {
  const file = path.join(folder, LOCK);
  if (!existsSync(file)) return false;
  const db = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    db.prepare("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.close();
  }
}

const isBusy = (error: unknown): boolean => (Object(error) as { errcode?: unknown }).errcode === 5;

async function writeOwner(folder: string): Promise<void> {
  const owner = { pid: process.pid, since: Date.now(), started: await startOf(process.pid) };
  const file = path.join(folder, OWNER);
  writeFileSync(`${file}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** What a new owner has not written yet is there in a moment; until then an old one's words may be. */
const TRIES = 20;
const BETWEEN_TRIES_MS = 10;

type Named = Owner & {
  /** It is the process of that number on this machine, now. */
  readonly isHere: boolean;
};

async function said(folder: string): Promise<Named | undefined> {
  let owner = await readOwner(folder);
  for (let n = 0; n < TRIES && !owner?.isHere; n += 1) {
    await pause(BETWEEN_TRIES_MS);
    owner = await readOwner(folder);
  }
  return owner;
}

async function readOwner(folder: string): Promise<Named | undefined> {
  try {
    const { pid, since, started } = JSON.parse(readFileSync(path.join(folder, OWNER), "utf8"));
    if (!Number.isSafeInteger(pid) || pid < 1 || !Number.isFinite(since)) return undefined;
    const start = await startOf(pid);
    return { pid, since, isHere: start !== undefined && start === started };
  } catch {
    return undefined; // Not there yet, or not whole: the caller tries again and says what it means.
  }
}
