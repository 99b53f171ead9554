/** Where does a worker of a fleet get its jobs? From the queues whose labels it has; it says every few seconds that it lives. */
import { randomUUID } from "node:crypto";
import { type Failed, hasFailed } from "../../core/result.ts";
import {
  GATE_PRIORITY,
  type JobOffer,
  type JobResult,
  type JobSource,
  type TakenJob,
} from "../../ports/fleet-jobs.ts";
import type { Database } from "../fleet/database.ts";
import { BEAT_MS } from "../fleet/workers.ts";
import { JOBS_CHANNEL } from "./boss.ts";

type SourceOptions = {
  readonly database: Database;
  readonly name: string;
  readonly labels: readonly string[];
  readonly capacity: number;
  readonly version: string;
};

type TakenRow = { readonly offer: string | null; readonly tries: number };

export class FleetSource implements JobSource, AsyncDisposable {
  readonly #options: SourceOptions;
  /** The jobs that it has, by their permits. */
  readonly #held = new Map<string, AbortController>();
  readonly #beat: NodeJS.Timeout;
  /** The sign of life that is on its way. */
  #speaking: Promise<unknown> = Promise.resolve();
  /** Keeps the connection that listens, also while every lane is busy. */
  readonly #listening: Disposable;
  #isDraining = false;

  private constructor(options: SourceOptions) {
    this.#options = options;
    this.#listening = options.database.nudges(JOBS_CHANNEL);
    this.#beat = setInterval(() => this.#speak(), BEAT_MS);
  }

  static async open(options: SourceOptions): Promise<FleetSource | Failed> {
    const source = new FleetSource(options);
    const said = await source.#seen("ready", []);
    if (!hasFailed(said)) return source;
    await source[Symbol.asyncDispose]();
    return said;
  }

  async next(signal: AbortSignal, what: "any" | "gate" = "any"): Promise<TakenJob | undefined> {
    using nudges = this.#options.database.nudges(JOBS_CHANNEL);
    while (!signal.aborted) {
      const taken = await this.#take(what === "gate" ? GATE_PRIORITY : 0);
      if (taken) return taken; // Also in the moment in which the worker is told to end: it is begun.
      await nudges.next(signal, LOOK_MS);
    }
    return undefined;
  }

  /** People see that it takes no more jobs. */
  drain(): void {
    this.#isDraining = true;
    this.#speak();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#beat);
    this.#listening[Symbol.dispose]();
    await this.#speaking; // Else it might be heard after the last word.
    await this.#seen("gone", []);
  }

  async #take(minPriority: number): Promise<TakenJob | undefined> {
    const { database, name, labels } = this.#options;
    const permit = randomUUID();
    const rows = await database.ask<TakenRow>("SELECT * FROM $S.worker_take($1, $2, $3, $4)", [
      ...[permit, name, labels, minPriority],
    ]);
    const { offer = null, tries = 0 } = hasFailed(rows) ? {} : rows[0]!;
    if (offer === null) return undefined;
    const lost = new AbortController();
    this.#held.set(permit, lost);
    return {
      ...{ offered: { ...(JSON.parse(offer) as JobOffer), permit }, tries, lost: lost.signal },
      answer: (result) => this.#answer(permit, result).finally(() => this.#held.delete(permit)),
    };
  }

  /** What was made is not dropped because Postgres restarts. */
  async #answer(permit: string, result: JobResult): Promise<"taken" | "late" | Failed> {
    const { database } = this.#options;
    // As a text within it: jsonb refuses a zero character.
    const output = JSON.stringify({ result: JSON.stringify(result) });
    const rows = await database.ask<{ readonly counts: boolean }>(
      "SELECT $S.worker_answer($1, $2) AS counts",
      [permit, output],
      { patienceMs: ANSWER_PATIENCE_MS },
    );
    if (hasFailed(rows)) return rows;
    if (rows[0]!.counts) return "taken";
    await database.ask("SELECT $S.worker_report($1, $2)", [permit, lateWords(result)]);
    return "late";
  }

  #speak(): void {
    this.#speaking = this.#sayAlive();
  }

  async #sayAlive(): Promise<void> {
    const permits = [...this.#held.keys()];
    const alive = await this.#seen(this.#isDraining ? "draining" : "ready", permits);
    if (hasFailed(alive)) return; // Postgres is away.
    const own = new Set(alive.map(({ permit }) => permit));
    for (const permit of permits) if (!own.has(permit)) this.#held.get(permit)?.abort();
  }

  #seen(state: "ready" | "draining" | "gone", permits: readonly string[]) {
    const { database, name, labels, capacity, version } = this.#options;
    return database.ask<{ readonly permit: string }>(
      "SELECT * FROM $S.worker_seen($1, $2, $3, $4, $5, $6) AS own (permit)",
      [name, labels, capacity, version, state, permits],
      { patienceMs: BEAT_MS },
    );
  }
}

/** What a job cost that was cancelled. What machines used that lost theirs, Postgres has counted. */
function lateWords(result: JobResult): string {
  const spent = result.is === "answer" ? result.answer.spent : undefined;
  return JSON.stringify({ is: "late", ...(spent && { spent }) });
}

const LOOK_MS = 2_000;
const ANSWER_PATIENCE_MS = 10 * 60_000;
