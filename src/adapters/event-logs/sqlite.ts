/** How does a log outlive its process? As one SQLite file per run, durable before `append` returns. */
import { existsSync, utimesSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Event } from "../../core/event.ts";
import { failure } from "../../core/failure.ts";
import { EVENT_VERSION, migrate } from "../../core/migrate.ts";
import type { Appended, EventLog } from "../../ports/event-log.ts";
import type { EventFeed } from "../../ports/runs.ts";
import { Wakes } from "../files/wakes.ts";
import { createLogFile, openToRead, openToWrite } from "./sqlite-file.ts";
import { wordsOf, wordsOfWriting } from "./sqlite-words.ts";

/**
 * One writer, any number of readers, in any processes. Nothing else in a process that uses it may open and close
 * the file: the operating system would drop SQLite's locks on it.
 */
export class SqliteEventLog implements EventLog, EventFeed {
  readonly #file: string;
  #writer: Writer | undefined;
  #reader: Reader | undefined;

  /** Nothing is opened before it is needed; a log without a file is empty, and made by the first `append`. */
  constructor(file: string) {
    this.#file = path.resolve(file);
  }

  read(after: number): AsyncIterable<Event> {
    try {
      return this.#pages(after, this.#newest());
    } catch (error) {
      return broken(error);
    }
  }

  async append(after: number, events: readonly Event[]): Promise<Appended> {
    try {
      const bodies = events.map((event) => JSON.stringify(event));
      if (this.#writer && !existsSync(this.#file)) throw new Error("it was removed meanwhile");
      createLogFile(this.#file);
      this.#writer ??= new Writer(this.#file);
      if (!this.#writer.append(after, bodies)) return { is: "taken" };
      ring(this.#file);
      return { is: "done" };
    } catch (error) {
      this.#closeWriter(); // After an error of the disk SQLite's own state may be stale; opening again reads it anew.
      const { why, next } = wordsOfWriting(error, this.#file);
      return {
        is: "failed",
        failure: failure("repository", `${this.#file} cannot be written: ${why}`, next),
      };
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Event> {
    const wakes = new Wakes(this.#file);
    try {
      for (let seen = after; !signal.aborted; await wakes.next(signal)) {
        for await (const event of this.#pages(seen, this.#newest())) {
          if (signal.aborted) return;
          seen += 1;
          yield event;
        }
      }
    } finally {
      wakes.close();
    }
  }

  /** It can be used again afterwards; closing the last connection folds the side files into the one file. */
  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
    this.#closeWriter();
  }

  #closeWriter(): void {
    try {
      this.#writer?.close();
    } catch {
      // What was acknowledged is durable, and the next one to open the file finishes what is left to do.
    }
    this.#writer = undefined;
  }

  #newest(): number {
    return this.#ask((reader) => reader.newest()) ?? 0;
  }

  /** A page at a time: between two pages no lock is held, and memory does not grow with the log. */
  async *#pages(after: number, newest: number): AsyncGenerator<Event> {
    for (let seq = after; seq < newest; ) {
      const rows = this.#ask((reader) => reader.page(seq, newest)) ?? [];
      for (const row of rows) {
        seq += 1;
        yield this.#event(row, seq);
      }
      if (rows.length === 0) throw this.#damaged(`event ${seq + 1} is missing`);
    }
  }

  #event(row: Row, expected: number): Event {
    const { seq, version, body } = row;
    if (seq !== expected) throw this.#damaged(`event ${expected} is missing, ${seq} comes next`);
    const parsed = parse(body);
    if (!parsed) throw this.#damaged(`event ${seq} is not JSON`);
    try {
      return migrate(Number(version), parsed.value);
    } catch (error) {
      throw new Error(`${this.#file}: event ${seq} ${(error as Error).message}`, { cause: error });
    }
  }

  /** Undefined if there is no file. */
  #ask<T>(ask: (reader: Reader) => T): T | undefined {
    try {
      this.#reader ??= Reader.open(this.#file);
      return this.#reader && ask(this.#reader);
    } catch (error) {
      this.#reader?.close();
      this.#reader = undefined;
      const { why, next } = wordsOf(error);
      throw new Error(`${this.#file} cannot be read: ${why}${next ? `; ${next}` : ""}`, { cause: error });
    }
  }

  #damaged(what: string): Error {
    return new Error(`${this.#file} is damaged: ${what}; restore it from a backup, or start a new run`);
  }
}

type Row = { readonly seq: unknown; readonly version: unknown; readonly body: unknown };

/** Some hundred events of some kilobytes each. */
const PAGE_ROWS = 256;

class Writer {
  readonly #db: DatabaseSync;
  readonly #last: StatementSync;
  readonly #insert: StatementSync;

  constructor(file: string) {
    this.#db = openToWrite(file);
    this.#last = this.#db.prepare("SELECT max(seq) AS seq FROM event");
    this.#insert = this.#db.prepare("INSERT INTO event (seq, version, body) VALUES (?, ?, ?)");
  }

  /** Immediate: who begins is the only writer, so that what it sees as the last event still is when it commits. */
  append(after: number, bodies: readonly string[]): boolean {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const isNext = Number(this.#last.get()?.["seq"] ?? 0) === after;
      if (isNext) bodies.forEach((body, i) => void this.#insert.run(after + 1 + i, EVENT_VERSION, body));
      this.#db.exec(isNext ? "COMMIT" : "ROLLBACK");
      return isNext;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#db.close();
  }
}

class Reader {
  readonly #db: DatabaseSync;
  readonly #last: StatementSync;
  readonly #page: StatementSync;

  static open(file: string): Reader | undefined {
    const db = openToRead(file);
    return db && new Reader(db);
  }

  private constructor(db: DatabaseSync) {
    this.#db = db;
    this.#last = db.prepare("SELECT max(seq) AS seq FROM event");
    this.#page = db.prepare(
      `SELECT seq, version, body FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${PAGE_ROWS}`,
    );
  }

  newest(): number {
    return Number(this.#last.get()?.["seq"] ?? 0);
  }

  page(after: number, newest: number): readonly Row[] {
    return this.#page.all(after, newest) as unknown as readonly Row[];
  }

  close(): void {
    this.#db.close();
  }
}

/**
 * Wakes those who follow. Writing has woken them, too, but some ms too early: readers see a commit only after the
 * disk has confirmed it, and what shows it to them is a change in shared memory that no watch reports.
 */
function ring(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now); // By name: opening and closing the file would drop SQLite's locks.
  } catch {
    // Nobody is woken; those who follow look by themselves within a second.
  }
}

function parse(body: unknown): { readonly value: unknown } | undefined {
  try {
    return typeof body === "string" ? { value: JSON.parse(body) } : undefined;
  } catch {
    return undefined; // The caller says which event it was.
  }
}

// biome-ignore lint/correctness/useYield: the port says that reading throws, not asking for it.
async function* broken(error: unknown): AsyncGenerator<Event> {
  throw error;
}
