/** The coordinator's side of pg-boss: offers jobs while it has the lease, cancels them, and hears of their ends. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import type { PgBoss } from "pg-boss";
import { messageOf } from "../../core/failure.ts";
import type { JobId, Spent } from "../../core/job.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { JobResult, OfferedJob, OfferedWork } from "../../ports/fleet-jobs.ts";
import type { Signs } from "../../ports/signs.ts";
import { fields, type LooseFields, parseJson } from "../../text/json.ts";
import { type Database, inSchema } from "../fleet/database.ts";
import type { TermsOf } from "../fleet/run-governor.ts";
import {
  answersChannel,
  bossId,
  bossSchema,
  coordinatorsBoss,
  JOBS_CHANNEL,
  makeQueue,
  queueOf,
} from "./boss.ts";
import { MAX_RESULT_CHARS, readResult } from "./job-result.ts";

type OffersOptions = {
  readonly database: Database;
  readonly url: string;
  readonly run: string;
  readonly runId: string;
  /** Of the lease that this coordinator has. */
  readonly fence: number;
  /** A job on another machine gives no sign of life, or gives one again. */
  readonly onQuiet: Signs["tell"];
  readonly termsOf: TermsOf;
};

type Wanted = {
  readonly job: OfferedJob["job"];
  readonly needs: OfferedJob["needs"];
  readonly what: OfferedWork;
  readonly labels: readonly string[];
  /** The more, the sooner. */
  readonly priority: number;
};

/** `tries`: how often it was begun. */
export type JobEnding =
  | Answered
  /** `begun`: a machine had it, and may still say what it cost. */
  | { readonly is: "cancelled"; readonly tries: number; readonly begun: boolean }
  /** No machine came to an end with it. */
  | { readonly is: "given-up"; readonly tries: number }
  /** A worker handed back something that is no answer. */
  | { readonly is: "unusable"; readonly tries: number };

/** `offered`: as this side wrote it. */
type Answered = {
  readonly is: "answered";
  readonly result: JobResult;
  readonly tries: number;
  readonly offered: OfferedJob;
};

type JobRow = {
  readonly id: string;
  readonly name: string;
  readonly state: "created" | "retry" | "active" | "completed" | "cancelled" | "failed";
  readonly output: unknown;
  readonly offered: string;
  readonly begun: boolean;
  readonly tries: number;
};

type Pending = Wanted & { readonly done: (result: "offered" | Failed) => void };

type Ready = Pending & { readonly terms: Awaited<ReturnType<TermsOf>> };

export class FleetOffers {
  readonly #options: OffersOptions;
  readonly #waiting = new Map<string, (end: JobEnding) => void>();
  readonly #queues = new Set<string>();
  readonly #stop = new AbortController();
  #boss: Promise<PgBoss> | undefined;
  #pending: Pending[] = [];
  #flushing: Promise<void> | undefined;
  #listening: Promise<unknown> | undefined;
  readonly #late = new Map<string, (spent: Spent | undefined) => void>();

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  /** Those that are offered at about the same time go together. A coordinator without its lease offers nothing. */
  offer(wanted: Wanted): Promise<"offered" | Failed> {
    const { promise, resolve } = Promise.withResolvers<"offered" | Failed>();
    this.#pending.push({ ...wanted, done: resolve });
    this.#flushing ??= this.#flush();
    return promise;
  }

  /** Once it has ended, or was cancelled. */
  onEnd(job: string, heard: (end: JobEnding) => void): void {
    this.#waiting.set(bossId(this.#options.runId, job), heard);
    this.#listening ??= Promise.all([this.#listen(), this.#hearReports()]);
  }

  /** What a job cost that was called off, if it says so in time. */
  async lastWords(job: string): Promise<Spent | undefined> {
    const { promise, resolve } = Promise.withResolvers<Spent | undefined>();
    this.#late.set(job, resolve);
    const timer = setTimeout(() => resolve(undefined), LAST_WORDS_MS);
    this.#stop.signal.addEventListener("abort", () => resolve(undefined), { once: true });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#late.delete(job);
    });
  }

  /** What the queue knows of a job of an earlier coordinator. */
  async find(job: string): Promise<JobEnding | "underway" | "unknown" | Failed> {
    const rows = await this.#rows([bossId(this.#options.runId, job)]);
    if (hasFailed(rows)) return rows;
    const [row] = rows;
    if (!row) return "unknown";
    return endingOf(row) ?? "underway";
  }

  /** Its worker notices within seconds. */
  async cancel(job: string): Promise<void> {
    const id = bossId(this.#options.runId, job);
    const rows = await this.#rows([id]);
    const row = hasFailed(rows) ? undefined : rows[0];
    if (!row || endingOf(row)) return;
    await this.#cancel(row.name, id);
  }

  /** Of a run whose coordinator has changed: gates that no landing waits for any more. */
  async cancelAll(prefix: string): Promise<void> {
    const { database, runId } = this.#options;
    const boss = bossSchema(database.schema);
    const found = await database.ask<{ readonly id: string; readonly name: string }>(
      `SELECT id, name FROM "${boss}".job WHERE data->>'runId' = $1 AND data->>'job' LIKE $2 AND state < 'completed'`,
      [runId, `${prefix}%`],
    );
    if (hasFailed(found)) return;
    for (const { id, name } of found) await this.#cancel(name, id);
  }

  /** If Postgres is away, the job goes on to its own end, which is dropped. */
  #cancel(queue: string, id: string): Promise<unknown> {
    return this.#opened()
      .then((boss) => boss.cancel(queue, id))
      .catch(() => {}); // See above.
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#flushing;
    await this.#listening;
    const boss = await this.#boss?.catch(() => undefined); // Never opened.
    await boss?.stop({ graceful: false, close: true }).catch(() => {}); // Postgres is away.
  }

  #opened(): Promise<PgBoss> {
    if (this.#boss) return this.#boss;
    const { url, database } = this.#options;
    this.#boss = coordinatorsBoss(url, database.schema);
    this.#boss.catch(() => {
      this.#boss = undefined; // It may be there the next time.
    });
    return this.#boss;
  }

  async #flush(): Promise<void> {
    await Promise.resolve(); // All that the engine offers in one go.
    while (this.#pending.length > 0) {
      const pending = this.#pending.splice(0, MAX_AT_ONCE);
      const result = await this.#offerAll(pending);
      for (const { done } of pending) done(result);
    }
    this.#flushing = undefined; // At once: whoever is told now may offer the next.
  }

  /** All or none, in one transaction with a look at the lease. Safe to be done twice. */
  async #offerAll(pending: readonly Pending[]): Promise<"offered" | Failed> {
    for (let tries = 1; ; tries += 1) {
      const offered = await this.#tryOffer(pending);
      const isAway = hasFailed(offered) && offered.failure.message.includes(AWAY);
      if (!isAway || tries === MAX_TRIES || this.#stop.signal.aborted)
        return hasFailed(offered) ? offered : "offered";
      // The statement waits for Postgres to be there again.
      await this.#options.database.ask("SELECT 1", [], { signal: this.#stop.signal });
    }
  }

  async #tryOffer(pending: readonly Pending[]): Promise<object | Failed> {
    const { database, runId, fence } = this.#options;
    try {
      const terms = await Promise.all(pending.map(({ job }) => this.#options.termsOf(job)));
      const ready = pending.map((one, i) => ({ ...one, terms: terms[i]! }));
      const boss = await this.#opened();
      for (const queue of new Set(pending.map(({ labels }) => queueOf(labels))))
        await this.#make(boss, queue);
      return await database.within(async (client) => {
        const ask = (text: string, values: readonly unknown[] = []) =>
          client.query(inSchema(text, database.schema), [...values]);
        await ask("BEGIN");
        // A coordinator that is stopped in here would keep others from the run.
        await ask(`SET LOCAL idle_in_transaction_session_timeout = ${MAX_OFFER_MS}`);
        await ask(`SET LOCAL statement_timeout = ${MAX_OFFER_MS}`);
        const { rows } = await ask("SELECT fence FROM $S.run WHERE id = $1 FOR SHARE", [runId]);
        if (rows[0]?.fence !== fence) return LOST;
        await this.#insert(boss, client, ready);
        await ask("SELECT pg_notify('$N:' || $1, '')", [JOBS_CHANNEL]);
        await ask("COMMIT");
        return {};
      });
    } catch (error) {
      return failedWith("repository", `a job could not be offered: ${messageOf(error)}`);
    }
  }

  async #insert(boss: PgBoss, client: Client, ready: readonly Ready[]): Promise<void> {
    const { database, run, runId } = this.#options;
    const permits = ready.map(() => randomUUID());
    const jobs = ready.map(({ job, terms }, i) => ({ job, permit: permits[i], ...terms }));
    await client.query(
      inSchema(
        `INSERT INTO $S.job (run, job, permit, counts_in, limited_by)
         SELECT $1, one.job, one.permit, one."countsIn", one."limitedBy" FROM jsonb_to_recordset($2) AS one
           (job text, permit uuid, "countsIn" text[], "limitedBy" text[])
         ON CONFLICT (run, job) DO NOTHING`,
        database.schema,
      ),
      [runId, JSON.stringify(jobs)],
    );
    const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
    for (const [queue, ofQueue] of Map.groupBy(ready.entries(), ([, { labels }]) => queueOf(labels))) {
      const inserts = ofQueue.map(([i, { job, needs, what, priority }]) => {
        const offered: OfferedJob = { run, runId, job, permit: permits[i]!, needs, what };
        // As a text: jsonb refuses a zero character.
        return { id: bossId(runId, job), priority, data: { runId, job, offered: JSON.stringify(offered) } };
      });
      await boss.insert(queue, inserts, { db });
    }
  }

  async #make(boss: PgBoss, queue: string): Promise<void> {
    if (this.#queues.has(queue)) return;
    await makeQueue(boss, this.#options.database, queue);
    this.#queues.add(queue);
  }

  async #listen(): Promise<void> {
    const { database, runId } = this.#options;
    const { signal } = this.#stop;
    using nudges = database.nudges(answersChannel(runId));
    while (!signal.aborted) {
      const ids = [...this.#waiting.keys()];
      // After a takeover nothing may be offered for long: also then jobs of dead machines go to others.
      if (ids.length > 0) this.#opened().catch(() => {}); // It is opened again the next time.
      const rows = ids.length === 0 ? [] : await this.#rows(ids, { isEnded: true, signal });
      if (!hasFailed(rows)) for (const row of rows) this.#tell(row);
      await nudges.next(signal, LOOK_MS);
      await pause(GATHER_MS, undefined, { signal }).catch(() => {}); // The loop looks at the signal.
    }
  }

  /** What workers say beside their answers; each is heard once. */
  async #hearReports(): Promise<void> {
    const { database, runId, fence } = this.#options;
    const { signal } = this.#stop;
    using nudges = database.nudges(`report:${runId}`);
    for (; !signal.aborted; await nudges.next(signal)) {
      const rows = await database.ask<{ readonly job: string; readonly body: string }>(
        `DELETE FROM $S.report AS one USING $S.run
         WHERE one.run = $1 AND one.job IS NOT NULL AND run.id = $1 AND run.fence = $2
         RETURNING one.job, one.body`,
        [runId, fence],
        { signal },
      );
      if (!hasFailed(rows)) for (const { job, body } of rows) this.#hear(job, fields(parseJson(body)));
    }
  }

  #hear(job: string, said: LooseFields): void {
    if (said["is"] === "late") this.#late.get(job)?.(spentIn(said));
    const { ms, of, doing } = said;
    if (said["is"] === "quiet" && typeof ms === "number" && typeof of === "string")
      this.#options.onQuiet({ job: of as JobId, ms, ...(typeof doing === "string" && { doing }) });
  }

  #tell(row: JobRow): void {
    const end = endingOf(row);
    const heard = end && this.#waiting.get(row.id);
    if (!heard) return;
    this.#waiting.delete(row.id);
    heard(end);
  }

  #rows(
    ids: readonly string[],
    { isEnded = false, signal }: { readonly isEnded?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<readonly JobRow[] | Failed> {
    const { database } = this.#options;
    const boss = bossSchema(database.schema);
    // By the name of its queue as well, which the index begins with.
    return database.ask<JobRow>(
      `SELECT job.id, job.name, job.state, job.retry_count AS tries,
         CASE WHEN length(job.output->>'result') <= ${MAX_RESULT_CHARS} THEN job.output END AS output,
         job.data->>'offered' AS offered, job.started_on IS NOT NULL AS begun
       FROM "${boss}".queue JOIN "${boss}".job ON job.name = queue.name AND job.id = ANY($1::uuid[])
       ${isEnded ? "WHERE job.state > 'active'" : ""}`,
      [ids],
      signal ? { signal } : {},
    );
  }
}

function endingOf({ state, output, tries, offered, begun }: JobRow): JobEnding | undefined {
  if (state === "cancelled") return { is: "cancelled", tries, begun };
  if (state === "failed") return { is: "given-up", tries };
  if (state !== "completed") return undefined;
  const result = readResult(fields(output)["result"]);
  return result
    ? { is: "answered", result, tries, offered: JSON.parse(offered) as OfferedJob }
    : { is: "unusable", tries };
}

/** A worker's own words: what is no number is not taken. */
function spentIn({ spent }: LooseFields): Spent | undefined {
  const { tokens } = fields(spent);
  return typeof tokens === "number" && tokens >= 0 ? (spent as Spent) : undefined;
}

const LOST = failedWith("interrupted", "another coordinator has taken over this run: nothing was offered");
const AWAY = "the fleet's Postgres";
const MAX_TRIES = 3;
const MAX_OFFER_MS = 10_000;
const MAX_AT_ONCE = 200;
/** Less than the engine waits for them before a run ends. */
const LAST_WORDS_MS = 20_000;
/** Word of an answer comes at once; this is for words that were lost. */
const LOOK_MS = 2_000;
/** Answers that come at about the same time are read together: with 20 workers, 1.5 times as many a second. */
const GATHER_MS = 10;
