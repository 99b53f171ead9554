/** Keeps a run's budgets and accounts in Postgres in step with its log; only the run's coordinator does so. */
import { randomUUID } from "node:crypto";
import type { Failure } from "../../core/failure.ts";
import { type JobId, taskOfJob } from "../../core/job.ts";
import type { Event } from "../../core/log/event.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { budgetsWith, type CallBudget } from "../../core/rules/governor.ts";
import { ROOT, type TaskId } from "../../core/task.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Admitted, CallAmount, GovernedRun, RunGovernor, WantedCall } from "../../ports/governor.ts";
import type { Database } from "./database.ts";
import { FleetGovernor, readFailure } from "./governor.ts";

type FleetRunGovernorOptions = {
  readonly database: Database;
  /** The run's number in Postgres. */
  readonly run: string;
  readonly clock: Clock;
};

/** Resolves once Postgres has the budgets. */
export type TermsOf = (job: JobId) => Promise<Terms>;
type Terms = { readonly countsIn: readonly string[]; readonly limitedBy: readonly string[] };

type WorkingJob = { readonly job: JobId; readonly task: TaskId };

/** The coordinator's own calls are admitted like those of workers. */
export class FleetRunGovernor implements RunGovernor, Disposable {
  readonly #options: FleetRunGovernorOptions;
  readonly #own: FleetGovernor;
  readonly #over = new AbortController();
  #run: GovernedRun | undefined;
  /** Statements run one after the other, in the order of the log. */
  #last: Promise<unknown> = Promise.resolve();
  /** The jobs that may call models now. */
  readonly #jobs = new Set<JobId>();
  /** Permits of the coordinator's own jobs. */
  readonly #permits = new Map<JobId, string>();
  /** Jobs on other machines that wait until they may call their models. */
  #waiting: ReadonlySet<string> = new Set();

  constructor(options: FleetRunGovernorOptions) {
    this.#options = options;
    const onWait = () => this.#run?.waits();
    this.#own = new FleetGovernor({ ...options, permitOf: (call) => this.permit(call), onWait });
  }

  connect(run: GovernedRun): void {
    this.#run = run;
    const { tokens, microdollars = 0 } = run.reserve;
    this.#then(
      `INSERT INTO $S.governed (run, accounts, reserve_tokens, reserve_microdollars) VALUES ($1, $2, $3, $4)
       ON CONFLICT (run) DO UPDATE SET accounts = excluded.accounts, reserve_tokens = excluded.reserve_tokens,
         reserve_microdollars = excluded.reserve_microdollars`,
      [run.accounts, tokens, microdollars],
    );
    void this.#takeOver(run);
    void this.#tellParked(run);
    void this.#followWaits(run);
  }

  /** The budgets that a job's calls count in and must fit. Gates, landings and checks call no model on a worker. */
  readonly termsOf: TermsOf = async (job) => {
    const task = taskOfJob(job);
    if (task === undefined) return { countsIn: [], limitedBy: [] };
    this.#jobs.add(job);
    const limitedBy = this.#limits(task);
    await this.#last;
    return { countsIn: budgetsWith(task), limitedBy };
  };

  /**
   * The permit of one of the coordinator's own jobs; workers get theirs with the jobs that they take. An earlier
   * coordinator's permit becomes invalid.
   */
  async permit({ job, task }: WorkingJob): Promise<{ readonly permit: string } | Failed> {
    this.#jobs.add(job);
    const permit = this.#permits.get(job) ?? randomUUID();
    this.#permits.set(job, permit);
    const rows = await this.#then(
      `INSERT INTO $S.job (run, job, permit, counts_in, limited_by) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (run, job) DO UPDATE SET permit = $3, counts_in = excluded.counts_in, limited_by = excluded.limited_by`,
      [job, permit, budgetsWith(taskOfJob(job) ?? ROOT), this.#limits(task)],
    );
    return hasFailed(rows) ? rows : { permit };
  }

  /** The names of the budgets that limit a task; their numbers are written before the job is. */
  #limits(task: TaskId): readonly string[] {
    const budgets = this.#run?.budgets(task) ?? [];
    this.#write(budgets);
    return budgets.map(({ name }) => name);
  }

  admit(call: WantedCall, signal: AbortSignal): Promise<Admitted | { readonly failure: Failure }> {
    return this.#own.admit(call, signal);
  }

  settle(call: Admitted, cost: CallAmount | "unknown"): void {
    this.#own.settle(call, cost);
  }

  refuse(account: string, why: Failure): void {
    this.#own.refuse(account, why);
  }

  readonly follow = (): void => {};

  /** Other processes may act on an event only once it is durable. */
  kept(event: Event): void {
    if (event.type === "account.parked") this.#park(event);
    if (event.type === "account.refused") this.#refused(event);
    if (event.type === "account.woken") this.#wake(event.account);
    if (event.type === "job.ended") this.#ended(event);
  }

  isWaiting(job: JobId): boolean {
    return this.#own.isWaiting(job) || this.#waiting.has(job);
  }

  waitedMs(job: JobId): number {
    return this.#own.waitedMs(job);
  }

  /** Resolves once everything reported so far is in Postgres, or failed. */
  async settled(): Promise<void> {
    await this.#last;
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  /** The run's own time may differ from the clock of Postgres, so only durations are passed. */
  #park({ account, until, at, failure }: Extract<Event, { type: "account.parked" }>): void {
    this.#then(
      `INSERT INTO $S.account AS a (name, run, state, until, failure, decided_by)
       SELECT $2, $1, 'parked', clock_timestamp() + $3 * interval '1 ms', $4, $1 WHERE ${IS_OWN}
       ON CONFLICT (name, coalesce(run, 0)) DO UPDATE SET state = 'parked', failure = excluded.failure,
         decided_by = $1, woken_after = NULL, until = excluded.until
       WHERE a.state <> 'refused' OR a.decided_by IS NULL
       RETURNING pg_notify('$N:accounts', '')`,
      [account, until - at, JSON.stringify(failure)],
    );
  }

  #refused({ account, failure }: Extract<Event, { type: "account.refused" }>): void {
    this.#then(
      `INSERT INTO $S.account AS a (name, run, state, failure, decided_by)
       SELECT $2, $1, 'refused', $3, $1 WHERE ${IS_OWN}
       ON CONFLICT (name, coalesce(run, 0)) DO UPDATE SET state = 'refused', until = NULL,
         failure = excluded.failure, decided_by = $1
       RETURNING pg_notify('$N:accounts', '')`,
      [account, JSON.stringify(failure)],
    );
  }

  /**
   * Rate limits end by themselves, also those for the whole fleet. Only a person can replace a refused key, and
   * that person's word holds for all runs.
   */
  #wake(account: string): void {
    this.#then(
      `WITH mended AS (DELETE FROM $S.account WHERE name = $2 AND run IS NULL AND state = 'refused')
       UPDATE $S.account SET state = 'woken', until = NULL, decided_by = NULL,
         woken_after = (SELECT coalesce(max(id), 0) FROM $S.reservation)
       WHERE name = $2 AND run = $1
       RETURNING pg_notify('$N:accounts', '')`,
      [account],
    );
  }

  /**
   * Records a job's end: its cost is in the log now, and no longer its own. Both change in one statement, or the
   * cost would count twice for a moment. A job that was given up may go on for a while and spend, or still answer.
   */
  #ended({ job, how }: Extract<Event, { type: "job.ended" }>): void {
    this.#jobs.delete(job);
    this.#permits.delete(job);
    const isLast = how !== "aborted" && how !== "expired";
    this.#then(
      `WITH budgets AS (${BUDGETS} RETURNING 1), gone AS (
         DELETE FROM $S.job WHERE run = $1 AND job = $8 AND ($9 OR ($10 AND permit IS NULL)) RETURNING run)
       SELECT pg_notify('$N:calls:' || run, '') FROM gone`,
      [...columnsOf(this.#budgets()), job, isLast, how === "aborted"],
    );
  }

  /** The budgets that jobs which may call models must fit. */
  #budgets(): readonly CallBudget[] {
    const tasks = new Set([...this.#jobs].map((job) => taskOfJob(job) ?? ROOT));
    return [...tasks].flatMap((task) => this.#run?.budgets(task) ?? []);
  }

  #write(budgets: readonly CallBudget[]): void {
    if (budgets.length > 0) this.#then(BUDGETS, columnsOf(budgets));
  }

  /** Keeps the open jobs of an earlier coordinator, and removes those whose end the log has. */
  async #takeOver(run: GovernedRun): Promise<void> {
    const rows = await this.#then<{ job: JobId }>("SELECT job FROM $S.job WHERE run = $1", []);
    if (hasFailed(rows)) return; // The jobs ask for their permits again.
    const [open, over] = [
      rows.filter(({ job }) => run.isOpen(job)),
      rows.filter(({ job }) => !run.isOpen(job)),
    ];
    for (const { job } of open) this.#jobs.add(job);
    this.#write(this.#budgets());
    this.#then("DELETE FROM $S.job WHERE run = $1 AND job = ANY ($2)", [over.map(({ job }) => job)]);
  }

  /** Reports what other runs had found out about accounts before this one began. */
  async #tellParked(run: GovernedRun): Promise<void> {
    const rows = await this.#options.database.ask<Parked>(
      `SELECT name, failure, (extract(epoch FROM until - clock_timestamp()) * 1000)::float8 AS ms FROM $S.account
       WHERE name = ANY ($1) AND (run IS NULL OR run = $2) AND state <> 'woken' AND coalesce(until > clock_timestamp(), true)
       ORDER BY run NULLS LAST`,
      [run.accounts, this.#options.run],
    );
    if (hasFailed(rows)) return; // Postgres still admits each call.
    for (const { name, failure, ms } of rows) {
      const next = run.next([name, name]);
      if (next.is !== "free") continue;
      const { until: _, ...why } = readFailure(failure);
      void run.tell(name, ms === null ? why : { ...why, waitMs: ms });
    }
  }

  async #followWaits(run: GovernedRun): Promise<void> {
    const { database, run: id } = this.#options;
    const { signal } = this.#over;
    using nudges = database.nudges(`waits:${id}`);
    for (; !signal.aborted; await nudges.next(signal)) {
      const rows = await database.ask<{ job: string }>(
        "SELECT job FROM $S.job WHERE run = $1 AND waiting_since IS NOT NULL",
        [id],
        { signal },
      );
      if (hasFailed(rows)) continue;
      const before = this.#waiting.size;
      this.#waiting = new Set(rows.map(({ job }) => job));
      if (this.#waiting.size > before) run.waits();
    }
  }

  #then<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[] | Failed> {
    const { database, run } = this.#options;
    const asked = this.#last.then(() => database.ask<Row>(text, [run, ...values]));
    this.#last = asked;
    return asked;
  }
}

/** A log's word about an account holds only for its own run and its own accounts. */
const IS_OWN = "EXISTS (SELECT FROM $S.governed g WHERE g.run = $1 AND $2 = ANY (g.accounts))";

const BUDGETS = `
  INSERT INTO $S.budget (run, name, max_tokens, max_microdollars, spent_tokens, spent_microdollars, failure)
  SELECT $1::bigint, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
  ON CONFLICT (run, name) DO UPDATE SET max_tokens = excluded.max_tokens,
    max_microdollars = excluded.max_microdollars, spent_tokens = excluded.spent_tokens,
    spent_microdollars = excluded.spent_microdollars, failure = excluded.failure`;

/** The columns of the budgets, each name once. */
function columnsOf(budgets: readonly CallBudget[]): readonly (readonly unknown[])[] {
  const all = [...new Map(budgets.map((budget) => [budget.name, budget])).values()];
  return [
    all.map(({ name }) => name),
    all.map(({ limit }) => limit.maxTokens ?? null),
    all.map(({ limit }) => limit.maxMicrodollars ?? null),
    all.map(({ charged }) => Math.ceil(charged.tokens)),
    all.map(({ charged }) => Math.ceil(charged.microdollars)),
    all.map(({ failure }) => JSON.stringify(failure)),
  ];
}

type Parked = { readonly name: string; readonly failure: string; readonly ms: number | null };
