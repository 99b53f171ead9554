/** How is the file of a log made and opened? Whole or not at all; with what SQLite promises set the strict way. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  rmSync,
  statSync,
} from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** "Skei", in SQLite's field for whose file it is; and the shape of its tables. */
const APPLICATION_ID = 0x536b6569;
const FORMAT = 1;
/** A writer holds the lock for milliseconds; who waits longer than this waits for something that hangs. */
const BUSY_MS = 5_000;

/** It appears with its table inside, so that a file without one is damage. Keeps one that is there. */
export function createLogFile(file: string): void {
  if (existsSync(file)) return;
  const draft = `${file}.${process.pid}-${process.hrtime.bigint()}.new`;
  try {
    const db = new DatabaseSync(draft);
    try {
      db.exec(`PRAGMA journal_mode = wal; PRAGMA synchronous = full;
        CREATE TABLE event (seq INTEGER PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
        PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT};`);
    } finally {
      db.close();
    }
    linkSync(draft, file); // Unlike a rename it never replaces what another writer has made meanwhile.
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(draft + end, { force: true });
  }
  syncFolder(path.dirname(file));
}

/** A new name in a folder is durable once the folder is. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function openToWrite(file: string): DatabaseSync {
  return checked(new DatabaseSync(file, { timeout: BUSY_MS }), (db) => {
    db.exec("PRAGMA synchronous = full");
    return db;
  });
}

/** Undefined if there is no file: reading makes none. */
export function openToRead(file: string): DatabaseSync | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return checked(new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS }));
  } catch (error) {
    if (!isReadOnly(path.dirname(file)) || waits(`${file}-wal`)) throw error;
  }
  // Where SQLite can make no side files, nobody can write either: it is read as it stands.
  const address = pathToFileURL(file);
  address.searchParams.set("immutable", "1");
  return checked(new DatabaseSync(address, { readOnly: true }));
}

/** What was written but not folded into the file yet would be overlooked. */
const waits = (sideFile: string) => (statSync(sideFile, { throwIfNoEntry: false })?.size ?? 0) > 0;

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}

/** Throws, and closes it, if it is no log of this or an older Skein. */
function checked(db: DatabaseSync, then: (db: DatabaseSync) => DatabaseSync = (same) => same): DatabaseSync {
  try {
    const id = Number(db.prepare("PRAGMA application_id").get()?.["application_id"]);
    const format = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (id !== APPLICATION_ID) throw new Error("it is no log of Skein, or what it held was cut off");
    if (format > FORMAT)
      throw new Error(
        `it was written by a newer Skein (format ${format}, this one knows ${FORMAT}); update Skein to read it`,
      );
    return then(db);
  } catch (error) {
    db.close();
    throw error;
  }
}
