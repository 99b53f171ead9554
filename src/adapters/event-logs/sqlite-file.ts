/** Creates and opens the SQLite file of an event log: it appears whole or not at all, and every commit is synced. */
import { accessSync, constants, existsSync, linkSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { syncFolder } from "../files/write-whole.ts";

/** "Skei", in SQLite's field for the owning application; and the version of the tables. */
const APPLICATION_ID = 0x536b6569;
const FORMAT = 1;
/** A writer holds the lock for milliseconds; one that holds it longer hangs. */
const BUSY_MS = 5_000;

/**
 * Creates the file with its table inside, so that a file without one is known to be damaged. An existing file is
 * kept.
 */
export async function createLogFile(file: string): Promise<void> {
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
    linkSync(draft, file); // Unlike a rename, a link never replaces a file that another writer has made meanwhile.
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(draft + end, { force: true });
  }
  await syncFolder(path.dirname(file));
}

export function openToWrite(file: string): DatabaseSync {
  const db = checked(new DatabaseSync(file, { timeout: BUSY_MS }));
  db.exec("PRAGMA synchronous = full");
  return db;
}

/** Undefined if there is no file: reading creates none. */
export function openToRead(file: string): DatabaseSync | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return checked(new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS }));
  } catch (error) {
    if (!isReadOnly(path.dirname(file)) || waits(`${file}-wal`)) throw error;
  }
  // If SQLite cannot make side files here, no process can write, so the file is read as it stands.
  const address = pathToFileURL(file);
  address.searchParams.set("immutable", "1");
  return checked(new DatabaseSync(address, { readOnly: true }));
}

/** Whether a side file holds data: reading only the main file would miss what is still in its write-ahead log. */
const waits = (sideFile: string) => (statSync(sideFile, { throwIfNoEntry: false })?.size ?? 0) > 0;

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}

/** Closes the file and throws if it is not a log of this or an older Skein. */
function checked(db: DatabaseSync): DatabaseSync {
  try {
    const id = Number(db.prepare("PRAGMA application_id").get()?.["application_id"]);
    const format = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (id !== APPLICATION_ID) throw new Error("it is not a log of Skein, or it was truncated");
    if (format > FORMAT)
      throw new Error(
        `it was written by a newer Skein (format ${format}, this one knows ${FORMAT}); update Skein to read it`,
      );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
