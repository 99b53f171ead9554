/** Where does a worker of a fleet get its jobs? From the queues whose labels it has; it says every few seconds that it lives. */
import type { PgBoss } from "pg-boss";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { JobResult, JobSource, OfferedJob, TakenJob } from "../../ports/fleet-jobs.ts";
import type { Database } from "../fleet/database.ts";
import { asDb, JOBS_CHANNEL, labelsOf, workersBoss } from "./boss.ts";

type SourceOptions = {
  readonly database: Database;
  readonly name: string;
  readonly labels: readonly string[];
  readonly capacity: number;
  readonly version: string;
};

type Held = {
  readonly queue: string;
  readonly attempt: { readonly id: string; readonly retryCount: number };
  readonly what: string;
  readonly lost: AbortController;
};

type JobData = { readonly offered: string };

export class BossSource implements JobSource, AsyncDisposable {
  readonly #options: SourceOptions;
  readonly #boss: PgBoss;
  readonly #held = new Set<Held>();
  readonly #beat: NodeJS.Timeout;
  /** Keeps the connection that listens, also while every lane is busy. */
  readonly #listening: Disposable;
  #queues: readonly string[] = [];
  #queuesAt = Number.NEGATIVE_INFINITY;
  #isDraining = false;

  private constructor(options: SourceOptions, boss: PgBoss) {
    this.#options = options;
    this.#boss = boss;
    this.#listening = options.database.nudges(JOBS_CHANNEL);
    this.#beat = setInterval(() => void this.#sayAlive(), BEAT_MS);
  }

  static async open(options: SourceOptions): Promise<BossSource | Failed> {
    try {
      const source = new BossSource(options, await workersBoss(options.database));
      const said = await source.#seen("ready");
      if (!hasFailed(said)) return source;
      await source[Symbol.asyncDispose]();
      return said;
    } catch (error) {
      return failedWith(
        "repository",
        `the fleet cannot be joined: ${messageOf(error)}`,
        "`skein fleet init` makes it",
      );
    }
  }

  async next(signal: AbortSignal): Promise<TakenJob | undefined> {
    using nudges = this.#options.database.nudges(JOBS_CHANNEL);
    while (!signal.aborted) {
      const taken = await this.#take().catch(() => undefined); // Postgres is away, or has no such queue any more.
      if (taken) return taken; // Also in the moment in which the worker is told to end: it is begun.
      await nudges.next(signal, LOOK_MS);
    }
    return undefined;
  }

  /** People see that it takes no more jobs. */
  drain(): void {
    this.#isDraining = true;
    void this.#seen("draining");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#beat);
    this.#listening[Symbol.dispose]();
    await this.#seen("gone");
    await this.#boss.stop({ graceful: false, close: false }).catch(() => {}); // Postgres is away.
  }

  async #take(): Promise<TakenJob | undefined> {
    for (const queue of await this.#myQueues()) {
      const [job] = await this.#boss.fetch<JobData>(queue);
      if (!job) continue;
      const offered = JSON.parse(job.data.offered) as OfferedJob;
      const { id, retryCount } = job as { readonly id: string; readonly retryCount: number };
      const held: Held = {
        ...{ queue, attempt: { id, retryCount }, lost: new AbortController() },
        what: `${offered.run}/${offered.job}`,
      };
      this.#held.add(held);
      return {
        ...{ offered, tries: retryCount, lost: held.lost.signal },
        answer: (result) => this.#answer(offered, held, result),
      };
    }
    return undefined;
  }

  /** With a fence: only if it is still this try's. */
  async #answer({ permit }: OfferedJob, held: Held, result: JobResult): Promise<"taken" | "late" | Failed> {
    const { database } = this.#options;
    try {
      const output = { result: JSON.stringify(result), by: this.#options.name };
      const db = asDb(database, ANSWER_PATIENCE_MS);
      const { affected } = (await this.#boss.complete(held.queue, held.attempt, output, { db })) as Affected;
      if (affected === 1) return "taken";
      await database.ask("SELECT $S.worker_report($1, $2)", [permit, lateWords(held, result)]);
      return "late";
    } catch (error) {
      return failedWith("repository", `the answer could not be sent: ${messageOf(error)}`);
    } finally {
      this.#held.delete(held);
    }
  }

  /** Those with most labels first: a machine that has what few have works on that. */
  async #myQueues(): Promise<readonly string[]> {
    if (performance.now() - this.#queuesAt < QUEUES_MS) return this.#queues;
    const own = new Set(this.#options.labels);
    const all = (await this.#boss.getQueues()).map(({ name }) => name);
    const mine = all.filter((queue) => labelsOf(queue)?.every((label) => own.has(label)));
    this.#queues = mine.sort((a, b) => labelsOf(b)!.length - labelsOf(a)!.length);
    this.#queuesAt = this.#queues.length > 0 ? performance.now() : Number.NEGATIVE_INFINITY;
    return this.#queues;
  }

  async #sayAlive(): Promise<void> {
    await Promise.all([this.#touch(), this.#seen(this.#isDraining ? "draining" : "ready")]);
  }

  async #touch(): Promise<void> {
    for (const [queue, held] of Map.groupBy(this.#held, ({ queue }) => queue)) {
      const attempts = held.map(({ attempt }) => attempt);
      const touched = await this.#boss.touch(queue, attempts).catch(() => undefined); // Postgres is away.
      const alive = new Set((touched as Affected | undefined)?.settled);
      if (touched) for (const one of held) if (!alive.has(one.attempt.id)) one.lost.abort();
    }
  }

  #seen(state: "ready" | "draining" | "gone"): Promise<object | Failed> {
    const { database, name, labels, capacity, version } = this.#options;
    const jobs = [...this.#held].map(({ what }) => what);
    return database.ask(
      "SELECT $S.worker_seen($1, $2, $3, $4, $5, $6)",
      [name, labels, capacity, version, jobs, state],
      { patienceMs: BEAT_MS },
    );
  }
}

type Affected = { readonly affected: number; readonly settled?: readonly string[] };

/** Its cost counts, even if another worker has the job now. */
function lateWords({ attempt, what }: Held, result: JobResult): string {
  const spent = result.is === "answer" ? result.answer.spent : undefined;
  return JSON.stringify({ is: "late", tries: attempt.retryCount, what, ...(spent && { spent }) });
}

/** Well below the time after which a machine counts as dead. */
const BEAT_MS = 2_000;
const LOOK_MS = 2_000;
const QUEUES_MS = 5_000;
/** What was paid for is not dropped because Postgres restarts. */
const ANSWER_PATIENCE_MS = 10 * 60_000;
