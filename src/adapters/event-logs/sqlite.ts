/** Keeps an event log in one SQLite file per run, durable before `append` returns. */
import { existsSync, utimesSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { failure } from "../../core/failure.ts";
import type { Event } from "../../core/log/event.ts";
import { EVENT_VERSION } from "../../core/log/migrate.ts";
import type { Appended, EventLog } from "../../ports/event-log.ts";
import type { EventFeed } from "../../ports/runs.ts";
import { Wakes } from "../files/wakes.ts";
import { createLogFile, openToRead, openToWrite } from "./sqlite-file.ts";
import { wordsOf, wordsOfWriting } from "./sqlite-words.ts";
import { damaged, type StoredEvent, StoredEvents } from "./stored-event.ts";

/**
 * One writer, any number of readers, in any processes. No other code in a process that uses it may open and close
 * the file: the operating system would drop SQLite's locks on it.
 */
export class SqliteEventLog implements EventLog, EventFeed {
  readonly #file: string;
  #writer: DatabaseSync | undefined;
  #reader: DatabaseSync | undefined;

  /** The file is opened when needed, and made by the first `append`; without a file the log is empty. */
  constructor(file: string) {
    this.#file = path.resolve(file);
  }

  read(after: number): AsyncIterable<Event> {
    try {
      return this.#pages(new StoredEvents(this.#file, after), this.#newest());
    } catch (error) {
      return broken(error);
    }
  }

  async append(after: number, events: readonly Event[]): Promise<Appended> {
    try {
      const bodies = events.map((event) => JSON.stringify(event));
      if (this.#writer && !existsSync(this.#file)) throw new Error("it was removed meanwhile");
      await createLogFile(this.#file);
      this.#writer ??= openToWrite(this.#file);
      if (!appendTo(this.#writer, after, bodies)) return { is: "taken" };
      ring(this.#file);
      return { is: "done" };
    } catch (error) {
      this.#closeWriter(); // After a disk error SQLite's own state may be stale: the next append opens the file again.
      const { why, next, isReadOnly } = wordsOfWriting(error, this.#file);
      return {
        is: "failed",
        failure: failure(isReadOnly ? "log" : "repository", `${this.#file} cannot be written: ${why}`, next),
      };
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Event> {
    using wakes = new Wakes(this.#file);
    const stored = new StoredEvents(this.#file, after);
    for (; !signal.aborted; await wakes.next(signal))
      for await (const event of this.#pages(stored, this.#newest())) {
        if (signal.aborted) return;
        yield event;
      }
  }

  /** The log can be used again afterwards. Closing the last connection folds the side files into the one file. */
  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
    this.#closeWriter();
  }

  #closeWriter(): void {
    try {
      this.#writer?.close();
    } catch {
      // Acknowledged events are durable, and the next process that opens the file cleans up.
    }
    this.#writer = undefined;
  }

  #newest(): number {
    return this.#ask(newestIn) ?? 0;
  }

  /** Reads page by page: no lock is held between two pages, and memory does not grow with the log. */
  async *#pages(stored: StoredEvents, newest: number): AsyncGenerator<Event> {
    while (stored.seq < newest) {
      const rows = this.#ask((db) => pageOf(db, stored.seq, newest)) ?? [];
      if (rows.length === 0) throw damaged(this.#file, `event ${stored.seq + 1} is missing`);
      for (const event of stored.read(rows)) yield event;
    }
    for (const event of stored.rest()) yield event;
  }

  #ask<T>(ask: (db: DatabaseSync) => T): T | undefined {
    try {
      this.#reader ??= openToRead(this.#file);
      return this.#reader && ask(this.#reader);
    } catch (error) {
      this.#reader?.close();
      this.#reader = undefined;
      const { why, next } = wordsOf(error);
      throw new Error(`${this.#file} cannot be read: ${why}${next ? `; ${next}` : ""}`, { cause: error });
    }
  }
}

/** A few hundred events of some kilobytes each. */
const PAGE_ROWS = 256;

const newestIn = (db: DatabaseSync): number =>
  Number(db.prepare("SELECT max(seq) AS seq FROM event").get()?.["seq"] ?? 0);

const pageOf = (db: DatabaseSync, after: number, newest: number): readonly StoredEvent[] =>
  db
    .prepare(
      `SELECT seq, version, body FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${PAGE_ROWS}`,
    )
    .all(after, newest) as unknown as readonly StoredEvent[];

/**
 * False if another writer was faster. The transaction is immediate, so that the last event is still the last one
 * at the commit.
 */
function appendTo(db: DatabaseSync, after: number, bodies: readonly string[]): boolean {
  db.exec("BEGIN IMMEDIATE");
  try {
    const isNext = newestIn(db) === after;
    const insert = db.prepare("INSERT INTO event (seq, version, body) VALUES (?, ?, ?)");
    if (isNext) bodies.forEach((body, i) => void insert.run(after + 1 + i, EVENT_VERSION, body));
    db.exec(isNext ? "COMMIT" : "ROLLBACK");
    return isNext;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Wakes readers that follow the log. The write itself wakes them some ms too early: they see a commit only after
 * the disk has confirmed it, by a change in shared memory that no file watch reports.
 */
function ring(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now); // By name: opening and closing the file would drop SQLite's locks.
  } catch {
    // Readers poll within a second anyway.
  }
}

// biome-ignore lint/correctness/useYield: the port says that reading throws, not asking for it.
async function* broken(error: unknown): AsyncGenerator<Event> {
  throw error;
}
