/** Keeps a run's event log as rows in Postgres, which only the holder of the run's lease may add to. */
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import type { Event } from "../../core/log/event.ts";
import { EVENT_VERSION } from "../../core/log/migrate.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Appended, EventLog } from "../../ports/event-log.ts";
import type { EventFeed } from "../../ports/runs.ts";
import { damaged, type StoredEvent, StoredEvents } from "../event-logs/stored-event.ts";
import type { Database } from "./database.ts";

/** The run's number in the database, and its name for people. */
export type RunId = { readonly id: string; readonly name: string };

export class FleetEventLog implements EventLog, EventFeed {
  readonly #database: Database;
  readonly #run: RunId;
  /** The number of the lease that events are written under; 0 if the run never had a lease. */
  fence = 0;

  constructor(database: Database, run: RunId) {
    this.#database = database;
    this.#run = run;
  }

  read(after: number): AsyncIterable<Event> {
    return this.#pages(this.#stored(after), this.#newest()); // The newest number is read now, not when the first event is consumed.
  }

  async append(after: number, events: readonly Event[]): Promise<Appended> {
    try {
      const bodies = events.map((event) => JSON.stringify(event));
      return await this.#append(after, bodies);
    } catch (error) {
      return { is: "failed", failure: failure("repository", `an event cannot be kept: ${messageOf(error)}`) };
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Event> {
    using nudges = this.#database.nudges(`log:${this.#run.id}`);
    const stored = this.#stored(after);
    for (; !signal.aborted; await nudges.next(signal))
      for await (const event of this.#pages(stored, this.#newest())) {
        if (signal.aborted) return;
        yield event;
      }
  }

  /**
   * Tried once, then again with the question whether the first try was committed, because only its answer may have
   * been lost.
   */
  async #append(after: number, bodies: readonly string[]): Promise<Appended> {
    const values = [this.#run.id, this.fence, after, EVENT_VERSION, bodies];
    const statement = "SELECT $S.append($1, $2, $3, $4, $5, $6) AS is";
    const first = await this.#database.ask<Answer>(statement, [...values, false], { patienceMs: 0 });
    const rows = hasFailed(first) ? await this.#database.ask<Answer>(statement, [...values, true]) : first;
    if (hasFailed(rows)) return { is: "failed", failure: rows.failure };
    const [answer] = rows;
    return answer?.is === "gone" ? { is: "failed", failure: this.#gone() } : { is: answer!.is as "done" };
  }

  get #name(): string {
    return `the log of run ${this.#run.name}`;
  }

  #stored(after: number): StoredEvents {
    return new StoredEvents(this.#name, after);
  }

  #gone(): Failure {
    return failure("log", `run ${this.#run.name} was removed meanwhile`);
  }

  async #newest(): Promise<number | Failed> {
    const rows = await this.#database.ask<{ newest: number }>("SELECT newest FROM $S.run WHERE id = $1", [
      this.#run.id,
    ]);
    if (hasFailed(rows)) return rows;
    return rows[0]?.newest ?? { failure: this.#gone() };
  }

  /** Reads page by page, so that memory does not grow with the log. */
  async *#pages(stored: StoredEvents, newestThen: Promise<number | Failed>): AsyncGenerator<Event> {
    const name = this.#name;
    const newest = await newestThen;
    if (typeof newest !== "number") throw new Error(`${name} cannot be read: ${newest.failure.message}`);
    while (stored.seq < newest) {
      const rows = await this.#database.ask<StoredEvent>(PAGE, [this.#run.id, stored.seq, newest]);
      if (hasFailed(rows)) throw new Error(`${name} cannot be read: ${rows.failure.message}`);
      if (rows.length === 0) throw damaged(name, `event ${stored.seq + 1} is missing`);
      for (const event of stored.read(rows)) yield event;
    }
    for (const event of stored.rest()) yield event;
  }
}

type Answer = { readonly is: "done" | "taken" | "gone" };

/** A few hundred events of some kilobytes each. */
const PAGE =
  "SELECT seq, version, body FROM $S.event WHERE run = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT 256";
