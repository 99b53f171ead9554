/** Takes jobs for a fleet's worker from the queues whose labels it has, and sends its heartbeat. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
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
  /** The token of an earlier process of this machine, which may have been killed just now. */
  readonly token?: string;
  /** How long it waits until it may join; by default only for obstacles that pass by themselves. */
  readonly patienceMs?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
};

type TakenRow = { readonly offer: string | null; readonly tries: number };

export class FleetSource implements JobSource, AsyncDisposable {
  readonly #options: SourceOptions;
  /** Proves that this process is the one that joined under its name. */
  readonly #token: string;
  /** The jobs that it has, by their permits. */
  readonly #held = new Map<string, AbortController>();
  readonly #beat: NodeJS.Timeout;
  /** The heartbeat that is being sent. */
  #speaking: Promise<unknown> = Promise.resolve();
  /** Keeps the listening connection open, also while every lane of the worker is busy. */
  readonly #listening: Disposable;
  #isDraining = false;

  private constructor(options: SourceOptions) {
    this.#options = options;
    this.#token = options.token ?? randomUUID();
    this.#listening = options.database.nudges(JOBS_CHANNEL);
    this.#beat = setInterval(() => this.#speak(), BEAT_MS);
  }

  static async open(options: SourceOptions): Promise<FleetSource | Failed> {
    const { name, patienceMs, signal } = options;
    const source = new FleetSource(options);
    const begun = performance.now();
    for (;;) {
      const joined = await source.#join();
      if (joined === "joined") return source;
      const mostMs = typeof joined === "string" ? (patienceMs ?? JOIN_PATIENCE_MS[joined] ?? 0) : 0;
      if (performance.now() - begun < mostMs && !signal?.aborted) {
        await pause(JOIN_AGAIN_MS, undefined, { ...(signal && { signal }) }).catch(() => {}); // Then joins again.
        continue;
      }
      await source.#close();
      return typeof joined === "string" ? notJoined(name, joined) : joined;
    }
  }

  async next(signal: AbortSignal, what: "any" | "gate" = "any"): Promise<TakenJob | undefined> {
    using nudges = this.#options.database.nudges(JOBS_CHANNEL);
    while (!signal.aborted) {
      const taken = await this.#take(what === "gate" ? GATE_PRIORITY : 0);
      // Returned even if the worker is told to end in this moment, because the job has begun.
      if (taken) return taken;
      await nudges.next(signal, LOOK_MS);
    }
    return undefined;
  }

  /** Shows people that this worker takes no more jobs. */
  drain(): void {
    this.#isDraining = true;
    this.#speak();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close(); // Otherwise a heartbeat could arrive after the word that the worker is gone.
    await this.#seen("gone", []);
  }

  async #close(): Promise<void> {
    clearInterval(this.#beat);
    this.#listening[Symbol.dispose]();
    await this.#speaking;
  }

  async #join(): Promise<JoinAnswer | Failed> {
    const { database, name, labels, capacity, version } = this.#options;
    const rows = await database.ask<{ readonly is: JoinAnswer }>(
      "SELECT $S.worker_join($1, $2, $3, $4, $5) AS is",
      [name, this.#token, labels, capacity, version],
    );
    return hasFailed(rows) ? rows : rows[0]!.is;
  }

  async #take(minPriority: number): Promise<TakenJob | undefined> {
    const { database } = this.#options;
    const permit = randomUUID();
    const rows = await database.ask<TakenRow>("SELECT * FROM $S.worker_take($1, $2, $3)", [
      ...[permit, this.#token, minPriority],
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

  /** Retried for minutes, so that a result is not lost because Postgres restarts. */
  async #answer(permit: string, result: JobResult): Promise<"taken" | "late" | Failed> {
    const { database } = this.#options;
    // As a JSON text within JSON, because jsonb refuses a zero character.
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
    // The worker had been silent for too long, or its row was removed.
    if (!own.has(this.#token) && !this.#isDraining) void this.#join();
    for (const permit of permits) if (!own.has(permit)) this.#held.get(permit)?.abort();
  }

  #seen(state: "ready" | "draining" | "gone", permits: readonly string[]) {
    return this.#options.database.ask<{ readonly permit: string }>(
      "SELECT * FROM $S.worker_seen($1, $2, $3) AS own (permit)",
      [this.#token, state, permits],
      { patienceMs: BEAT_MS },
    );
  }
}

/** Reports the cost of a cancelled job. For machines that lost their jobs, Postgres has counted the cost already. */
function lateWords(result: JobResult): string {
  const spent = result.is === "answer" ? result.answer.spent : undefined;
  return JSON.stringify({ is: "late", ...(spent && { spent }) });
}

type JoinAnswer = "joined" | "taken" | "invited" | "named" | "wait" | "full";

function notJoined(name: string, why: Exclude<JoinAnswer, "joined">): Failed {
  const { message, next } = WHY_NOT[why];
  return failedWith("repository", `this machine cannot join the fleet as ${name}: ${message}`, next);
}

const WHY_NOT: Readonly<Record<Exclude<JoinAnswer, "joined">, { message: string; next: string }>> = {
  taken: { message: "a worker of that name is at work", next: "end it, or use another --name" },
  invited: {
    message: "that name belongs to a machine that was invited",
    next: "use the address that `skein fleet invite` printed for it, or another --name",
  },
  named: {
    message: "its address was made for another name",
    next: "leave out --name; or have this one invited: skein fleet invite <name>",
  },
  wait: { message: "too many join just now", next: "begin it again in a minute" },
  full: { message: "there are as many workers as a fleet may have", next: "end some of them" },
};

/**
 * The name of a killed worker is free after 10 s; if too many join within a minute, the rest can join in the next
 * one.
 */
const JOIN_PATIENCE_MS: Readonly<Partial<Record<JoinAnswer, number>>> = { taken: 15_000, wait: 90_000 };
const JOIN_AGAIN_MS = 1_000;
const LOOK_MS = 2_000;
const ANSWER_PATIENCE_MS = 10 * 60_000;
