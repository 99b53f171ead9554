/** Locks a run for the one process that writes it, by SQLite's lock on a file, which the system frees when it ends. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { failure } from "../../core/failure.ts";
import { type Failed, failedWith } from "../../core/result.ts";
import type { Owner, RunLock } from "../../ports/runs.ts";
import { wordsOf } from "../event-logs/sqlite-words.ts";
import { startOf } from "../programs/process-table.ts";

/** No other code in this process may open and close the lock's file: the system would free the lock. */
const LOCK = "lock.db";
const OWNER = "owner.json";
/** A process that only asks for the owner locks the file for microseconds. */
const BUSY_MS = 200;

type HeldLock = Pick<RunLock, "release">;

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
    return failedWith("repository", `run ${run} cannot be locked: ${file}: ${why}`, next);
  }
}

/** Keeps the connection from being garbage collected, which would free the lock. */
const held = new Set<DatabaseSync>();

function hold(db: DatabaseSync, folder: string): HeldLock {
  held.add(db);
  const release = async () => {
    if (!held.delete(db)) return;
    try {
      // Removed while this process has the lock: later the file may belong to the next owner.
      rmSync(path.join(folder, OWNER), { force: true });
    } catch {
      // The disk may be read-only by now. A leftover names a process that holds no lock, and is ignored.
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
 * Undefined if no process holds the lock, or one that cannot be seen from here: its number may belong to another
 * process, which must not be stopped. Neither waits for the lock nor takes it, so that two callers do not disturb
 * each other.
 */
export async function ownerOf(folder: string): Promise<Owner | undefined> {
  if (!isLocked(folder)) return undefined;
  const owner = await said(folder);
  if (owner) return owner.isHere ? { pid: owner.pid, since: owner.since } : undefined;
  if (!isLocked(folder)) return undefined;
  throw new Error(`${path.join(folder, LOCK)} is locked, but ${OWNER} beside it does not name the process`);
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

/** A new owner writes its record within moments; until then the old record may be there. */
const TRIES = 20;
const BETWEEN_TRIES_MS = 10;

type Named = Owner & {
  /** Whether the process with that number runs on this machine now. */
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
    return undefined; // The file is missing or incomplete: the caller tries again.
  }
}
