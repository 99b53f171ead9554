/** The coordinator's side of pg-boss: offers jobs while it has the lease, cancels them, and follows how they end. */
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import type { PgBoss } from "pg-boss";
import type { JobId, Spent } from "../../core/job.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { JobOffer, JobTaken, OfferedWork } from "../../ports/fleet-jobs.ts";
import type { Signs } from "../../ports/signs.ts";
import { fields, type LooseFields, parseJson } from "../../text/json.ts";
import { harmless } from "../../text/words.ts";
import { type Database, inSchema } from "../fleet/database.ts";
import { ownFiles } from "../fleet/own-files.ts";
import type { TermsOf } from "../fleet/run-governor.ts";
import { bossId, coordinatorsBoss, JOBS_CHANNEL, jobsOfRun, makeQueue, queueOf } from "./boss.ts";
import { endingOf, type JobEnding, type JobRow } from "./job-ending.ts";
import { MAX_RESULT_CHARS, readSpent } from "./job-result.ts";
import { superviseJobs } from "./supervise.ts";

type OffersOptions = {
  readonly database: Database;
  readonly run: string;
  readonly runId: string;
  /** The number of this coordinator's lease. */
  readonly fence: number;
  /** Called when a job on another machine has gone quiet, or gives signs again. */
  readonly onQuiet: Signs["tell"];
  /**
   * `onTaken`: a machine has begun a job of the log, or a part of it. `onReturned`: that machine is gone, and the
   * job waits for another.
   */
  readonly onTaken: (job: JobId, taken: JobTaken) => void;
  readonly onReturned: (job: JobId) => void;
  readonly termsOf: TermsOf;
};

type Wanted = {
  readonly job: JobOffer["job"];
  readonly needs: JobOffer["needs"];
  readonly what: OfferedWork;
  readonly labels: readonly string[];
  /** Higher numbers come first. */
  readonly priority: number;
};

/** `of`: the job of the log that this job is, or is part of. */
type Followed = {
  readonly of: JobId;
  readonly isPart: boolean;
  readonly ended: (end: JobEnding) => void;
};

type Pending = Wanted & { readonly done: (result: "offered" | Failed) => void };

type Ready = Pending & { readonly terms: Awaited<ReturnType<TermsOf>> };

export class FleetOffers {
  readonly #options: OffersOptions;
  readonly #waiting = new Map<string, Followed>();
  /** The permits of tries that were reported as taken, by the job's id. */
  readonly #told = new Map<string, string>();
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

  /**
   * Offers a job; offers made at about the same time share a transaction. A coordinator without its lease offers
   * nothing.
   */
  offer(wanted: Wanted): Promise<"offered" | Failed> {
    const { promise, resolve } = Promise.withResolvers<"offered" | Failed>();
    this.#pending.push({ ...wanted, done: resolve });
    this.#flushing ??= this.#flush();
    return promise;
  }

  /** Follows a job until it has ended, or was cancelled. */
  follow(job: JobId, ended: Followed["ended"], of = job): void {
    this.#waiting.set(bossId(this.#options.runId, job), { of, isPart: of !== job, ended });
    const { database } = this.#options;
    this.#listening ??= Promise.all([
      this.#listen(),
      this.#hearReports(),
      // Started here so that it also runs after a takeover, when nothing may be offered for long.
      superviseJobs(database, () => this.#opened(), this.#stop.signal),
    ]);
  }

  /** The cost of a cancelled job, if its worker reports it in time. */
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

  /** The queue's state of a job that an earlier coordinator offered. */
  async find(job: string): Promise<JobEnding | "underway" | "unknown" | Failed> {
    const rows = await this.#rows([bossId(this.#options.runId, job)]);
    if (hasFailed(rows)) return rows;
    const [row] = rows;
    if (!row) return "unknown";
    // The log may still say that a machine has it: then the job's return is reported.
    if (row.state === "retry" && row.permit !== null) this.#told.set(row.id, row.permit);
    return endingOf(row) ?? "underway";
  }

  /** The job's worker notices within seconds. */
  async cancel(job: string): Promise<void> {
    const id = bossId(this.#options.runId, job);
    const rows = await this.#rows([id]);
    const row = hasFailed(rows) ? undefined : rows[0];
    if (!row || endingOf(row)) return;
    await this.#cancel(row.name, id);
  }

  /** Cancels jobs of an earlier coordinator: gates that no landing waits for any more. */
  async cancelAll(prefix: string): Promise<void> {
    const { database, runId } = this.#options;
    const found = await database.ask<{ readonly id: string; readonly name: string }>(
      `SELECT boss.id, boss.name FROM $S.job AS job JOIN $J.job AS boss ON boss.name = job.queue AND boss.id = job.boss
       WHERE job.run = $1 AND job.job LIKE $2 AND boss.state < 'completed'`,
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
    const boss = await this.#boss?.catch(() => undefined); // It was never opened.
    await boss?.stop({ graceful: false, close: false }).catch(() => {}); // Postgres is away.
  }

  #opened(): Promise<PgBoss> {
    if (this.#boss) return this.#boss;
    this.#boss = coordinatorsBoss(this.#options.database);
    this.#boss.catch(() => {
      this.#boss = undefined; // Postgres may be back the next time.
    });
    return this.#boss;
  }

  async #flush(): Promise<void> {
    await Promise.resolve(); // Waits for all offers that the engine makes in the same turn.
    while (this.#pending.length > 0) {
      const pending = this.#pending.splice(0, MAX_AT_ONCE);
      const result = await this.#offerAll(pending);
      for (const { job, done } of pending) {
        if (result !== "offered") this.#waiting.delete(bossId(this.#options.runId, job));
        done(result);
      }
    }
    this.#flushing = undefined; // Cleared at once, because a caller that gets its result now may offer the next job.
  }

  /** Offers all or none, in one transaction that also checks the lease. Safe to repeat. */
  async #offerAll(pending: readonly Pending[]): Promise<"offered" | Failed> {
    const { database, runId, fence, termsOf } = this.#options;
    const terms = await Promise.all(pending.map(({ job }) => termsOf(job)));
    const ready = pending.map((one, i) => ({ ...one, terms: terms[i]! }));
    const offer = async (client: Client): Promise<object | Failed> => {
      const boss = await this.#opened();
      for (const queue of new Set(pending.map(({ labels }) => queueOf(labels))))
        await this.#make(boss, queue);
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
    };
    const offered = await database.within(offer, { patienceMs: PATIENCE_MS, signal: this.#stop.signal });
    return hasFailed(offered) ? offered : "offered";
  }

  async #insert(boss: PgBoss, client: Client, ready: readonly Ready[]): Promise<void> {
    const { database, run, runId } = this.#options;
    const jobs = ready.map(({ job, needs, what, labels, terms }) => {
      const offer: JobOffer = { run, runId, job, needs, what };
      return {
        ...terms,
        job,
        queue: queueOf(labels),
        boss: bossId(runId, job),
        offer: JSON.stringify(offer),
        files: ownFiles(offer),
      };
    });
    await client.query(
      inSchema(
        `INSERT INTO $S.job (run, job, queue, boss, offer, files, counts_in, limited_by)
         SELECT $1, one.job, one.queue, one.boss, one.offer, one.files, one."countsIn", one."limitedBy"
         FROM json_to_recordset($2)
           AS one (job text, queue text, boss uuid, offer text, files text, "countsIn" text[], "limitedBy" text[])
         ON CONFLICT (run, job) DO NOTHING`,
        database.schema,
      ),
      [runId, JSON.stringify(jobs)],
    );
    const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
    for (const [queue, ofQueue] of Map.groupBy(ready, ({ labels }) => queueOf(labels)))
      await boss.insert(
        queue,
        ofQueue.map(({ job, priority }) => ({ id: bossId(runId, job), priority, data: { runId, job } })),
        { db },
      );
  }

  async #make(boss: PgBoss, queue: string): Promise<void> {
    if (this.#queues.has(queue)) return;
    await makeQueue(boss, this.#options.database, queue);
    this.#queues.add(queue);
  }

  async #listen(): Promise<void> {
    const { database, runId } = this.#options;
    const { signal } = this.#stop;
    using nudges = database.nudges(jobsOfRun(runId));
    while (!signal.aborted) {
      const ids = [...this.#waiting.keys()];
      const rows = ids.length === 0 ? [] : await this.#rows(ids, { isNews: true, signal });
      if (!hasFailed(rows)) await this.#tellAll(rows);
      await nudges.next(signal, LOOK_MS);
      await pause(GATHER_MS, undefined, { signal }).catch(() => {}); // The loop checks the signal.
    }
  }

  /** Reads the reports of workers besides their answers, each once. */
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

  /** Handles a worker's own report about the job whose permit it has. */
  #hear(job: string, said: LooseFields): void {
    if (said["is"] === "late") this.#late.get(job)?.(readSpent(said["spent"]));
    const followed = this.#waiting.get(bossId(this.#options.runId, job));
    const { ms, doing } = said;
    if (said["is"] !== "quiet" || typeof ms !== "number" || !followed) return;
    const text = typeof doing === "string" && { doing: harmless(doing, MAX_DOING_CHARS) };
    const prepared = said["isPrepared"] === true && { isPrepared: true as const };
    this.#options.onQuiet({ job: followed.of, ms: Math.min(ms, MAX_QUIET_MS), ...text, ...prepared });
  }

  /** Reports news of jobs. A part of a job is deleted once it has ended; other jobs once the log has their ends. */
  async #tellAll(rows: readonly JobRow[]): Promise<void> {
    const parts = rows.filter(({ id }) => this.#waiting.get(id)?.isPart);
    const ended = parts.filter((row) => endingOf(row)).map(({ id }) => id);
    for (const row of rows) this.#tell(row);
    if (ended.length > 0)
      await this.#options.database.ask("DELETE FROM $S.job WHERE boss = ANY ($1)", [ended]);
  }

  #tell(row: JobRow): void {
    const { id, state, permit, worker: machine, tries, agoMs } = row;
    const followed = this.#waiting.get(id);
    if (!followed) return;
    if (state === "retry" && this.#told.delete(id)) this.#options.onReturned(followed.of);
    if (state !== "retry" && permit !== null && machine !== null && this.#told.get(id) !== permit) {
      this.#told.set(id, permit);
      this.#options.onTaken(followed.of, { machine, tries, agoMs: agoMs ?? 0 });
    }
    const end = endingOf(row);
    if (!end) return;
    this.#waiting.delete(id);
    this.#told.delete(id);
    followed.ended(end);
  }

  /**
   * `isNews`: only jobs that have ended, that a machine took without a report of it, or that a reported machine
   * lost.
   */
  #rows(
    ids: readonly string[],
    { isNews = false, signal }: { readonly isNews?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<readonly JobRow[] | Failed> {
    // Selected by the name of the queue as well, which the index begins with.
    return this.#options.database.ask<JobRow>(
      `SELECT boss.id, boss.name, boss.state, boss.retry_count AS tries, boss.started_on IS NOT NULL AS begun,
         CASE WHEN length(boss.output->>'result') <= ${MAX_RESULT_CHARS} THEN boss.output END AS output,
         CASE WHEN boss.state > 'active' THEN job.offer END AS offer, job.permit, job.worker,
         (extract(epoch FROM clock_timestamp() - boss.started_on) * 1000)::float8 AS "agoMs",
         CASE WHEN job.lost_tokens > 0 THEN json_build_object('tokens', job.lost_tokens,
           'microdollars', job.lost_microdollars, 'cutCalls', job.cut_calls, 'cutTokens', job.cut_tokens,
           'cutMicrodollars', job.cut_microdollars) END AS lost,
         CASE WHEN job.used_tokens > 0 THEN (
           SELECT json_build_object('tokens', job.used_tokens, 'microdollars', job.used_microdollars,
             'cutCalls', job.cut_calls + count(*), 'cutTokens', job.cut_tokens + coalesce(sum(open.tokens), 0),
             'cutMicrodollars', job.cut_microdollars + coalesce(sum(open.microdollars), 0))
           FROM $S.reservation AS open WHERE open.run = job.run AND open.job = job.job) END AS used
       FROM $J.queue JOIN $J.job AS boss ON boss.name = queue.name AND boss.id = ANY ($1::uuid[])
       LEFT JOIN $S.job AS job ON job.boss = boss.id
       WHERE NOT $2 OR boss.state > 'active' OR (boss.state = 'active' AND job.permit <> ALL ($3::uuid[]))
         OR (boss.state = 'retry' AND job.permit = ANY ($3::uuid[]))`,
      [ids, isNews, [...this.#told.values()]],
      signal ? { signal } : {},
    );
  }
}

const LOST = failedWith("interrupted", "another coordinator has taken over this run: nothing was offered");
/** A restart takes seconds, a failover to another server up to a minute. */
const PATIENCE_MS = 60_000;
const MAX_OFFER_MS = 10_000;
const MAX_DOING_CHARS = 200;
const MAX_QUIET_MS = 7 * 24 * 3_600_000;
const MAX_AT_ONCE = 200;
/** Less than the engine waits for a cancelled job's cost before a run ends. */
const LAST_WORDS_MS = 20_000;
/** An answer is notified at once. That a job was taken is seen with the next notification, or after this long. */
const LOOK_MS = 2_000;
/** Answers that come at about the same time are read together: with 20 workers, 1.5 times as many a second. */
const GATHER_MS = 10;
