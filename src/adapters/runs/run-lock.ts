/** Who writes this run? The process that holds SQLite's lock on a file: the system frees it however that process ends. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { failure } from "../../core/failure.ts";
import type { Failed } from "../../ports/repository.ts";
import type { Owner, RunLock } from "../../ports/runs.ts";
import { wordsOf } from "../event-logs/sqlite-words.ts";
import { startOf } from "./process-start.ts";

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
    writeOwner(folder);
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
    rmSync(path.join(folder, OWNER), { force: true }); // While it is ours: later it may be the next one's.
    db.close();
  };
  return { release };
}

async function refused(run: string, folder: string) {
  const { pid, since } = (await said(folder)) ?? {};
  const who =
    pid === undefined ? "another process" : `process ${pid}, since ${new Date(since!).toISOString()}`;
  return failure(
    "repository",
    `run ${run} is already under way: ${who}`,
    `wait until it ends, or end it with \`skein stop ${run}\``,
  );
}

/** Undefined if nobody holds the lock. Does not wait for it, nor take it, so that two who ask do not meet. */
export async function ownerOf(folder: string): Promise<Owner | undefined> {
  if (!isLocked(folder)) return undefined;
  const owner = await said(folder);
  if (owner || !isLocked(folder)) return owner;
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

function writeOwner(folder: string): void {
  const owner = { pid: process.pid, since: Date.now(), started: startOf(process.pid) };
  const file = path.join(folder, OWNER);
  writeFileSync(`${file}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** What a new owner has not written yet is there in a moment; until then an old one's words may be. */
const TRIES = 20;
const BETWEEN_TRIES_MS = 10;

async function said(folder: string): Promise<Owner | undefined> {
  let owner = readOwner(folder);
  for (let n = 0; n < TRIES && !owner?.isAlive; n += 1) {
    await pause(BETWEEN_TRIES_MS);
    owner = readOwner(folder);
  }
  return owner && { pid: owner.pid, since: owner.since };
}

function readOwner(folder: string): (Owner & { readonly isAlive: boolean }) | undefined {
  try {
    const { pid, since, started } = JSON.parse(readFileSync(path.join(folder, OWNER), "utf8"));
    if (!Number.isSafeInteger(pid) || pid < 1 || !Number.isFinite(since)) return undefined;
    return { pid, since, isAlive: startOf(pid) === started };
  } catch {
    return undefined; // Not there yet, or not whole: the caller tries again and says what it means.
  }
}
