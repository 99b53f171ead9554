/** Admits model calls through Postgres, so that a provider's refusal counts for every machine of the fleet. */
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { type Failure, failure } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Admitted, CallAmount, Governor, WantedCall } from "../../ports/governor.ts";
import { parseJson } from "../../text/json.ts";
import { WaitTimes } from "../wait-times.ts";
import type { Database } from "./database.ts";

type FleetGovernorOptions = {
  readonly database: Database;
  /** The run's number in Postgres. */
  readonly run: string;
  readonly clock: Clock;
  /** Gives the permit to call models for a job, and to report on it. */
  readonly permitOf: (
    call: Pick<WantedCall, "job" | "task">,
  ) => Promise<{ readonly permit: string } | Failed>;
  /** Called when a job begins to wait. */
  readonly onWait?: () => void;
};

type Taken = { readonly taken: boolean };

/** How long an account is avoided if the provider did not say how long. */
const LEFT_MS = 60_000;
const MAX_LEFT_MS = 3_600_000;

type Answer = {
  readonly is: "admitted" | "wait" | "refused";
  readonly id: string | null;
  readonly account: string | null;
  readonly wait_ms: number | null;
  readonly failure: string | null;
};

export class FleetGovernor implements Governor {
  readonly #options: FleetGovernorOptions;
  readonly #waits: WaitTimes;
  /** Refusals that Postgres does not have yet, by account. */
  readonly #pending = new Map<string, Promise<void>>();
  readonly #open = new Map<number, string>();
  /**
   * Until when this machine alone avoids an account, because the run does not know it, or has heard enough reports
   * of this job.
   */
  readonly #left = new Map<string, number>();
  /** The permits of jobs that have called an account, the latest last. */
  readonly #permits = new Map<string, Set<string>>();

  constructor(options: FleetGovernorOptions) {
    this.#options = options;
    this.#waits = new WaitTimes(options.clock);
  }

  async admit(call: WantedCall, signal: AbortSignal): Promise<Admitted | { readonly failure: Failure }> {
    const permitted = await this.#options.permitOf(call);
    if (hasFailed(permitted)) return permitted;
    using stack = new DisposableStack();
    // Names the reservation, so that asking again after a lost answer makes no second one.
    const asked = randomUUID();
    const look = async () => {
      const leftMs = call.accounts.map((account) => (this.#left.get(account) ?? 0) - performance.now());
      const accounts = call.accounts.filter((_, i) => leftMs[i]! <= 0);
      if (accounts.length === 0) return { waitMs: Math.min(...leftMs) };
      return this.#ask({ ...call, accounts }, { permit: permitted.permit, asked }, signal);
    };
    let nudges: readonly ReturnType<Database["nudges"]>[] = [];
    while (!signal.aborted) {
      await Promise.all(call.accounts.flatMap((account) => this.#pending.get(account) ?? []));
      const answer = await look();
      if (hasFailed(answer) || "account" in answer) return answer;
      if (nudges.length === 0) {
        nudges = this.#listen(stack);
        stack.defer(this.#waits.begin(call.job));
        this.#options.onWait?.();
        continue; // Looks once more, because changes before LISTEN are not notified.
      }
      await anyOf(nudges, signal, answer.waitMs);
    }
    return failedWith("interrupted", "stopped before the model was called");
  }

  settle({ id }: Admitted, cost: CallAmount | "unknown"): void {
    const permit = this.#open.get(id);
    if (permit === undefined) return;
    this.#open.delete(id);
    const amount = cost === "unknown" ? [null, null] : inWholes(cost);
    void this.#options.database.ask("SELECT $S.settle($1, $2, $3, $4)", [permit, id, ...amount], PATIENT);
  }

  refuse(account: string, why: Failure): void {
    const told = this.#refuse(account, why).then(() => {
      if (this.#pending.get(account) === told) this.#pending.delete(account);
    });
    this.#pending.set(account, told);
  }

  /** Reports a refusal with the permit of any open job that has called the account; the refused job has one. */
  async #refuse(account: string, why: Failure): Promise<void> {
    const { database, clock } = this.#options;
    const permits = this.#permits.get(account) ?? new Set();
    const ms = why.waitMs ?? (why.until === undefined ? null : Math.max(0, why.until - clock.wall()));
    for (const permit of [...permits].reverse()) {
      const values = [permit, account, why.kind, ms, JSON.stringify(inShort(why))];
      const told = await database.ask<Taken>(
        "SELECT $S.refuse($1, $2, $3, $4, $5) AS taken",
        values,
        PATIENT,
      );
      if (!hasFailed(told) && told[0]?.taken) return;
      if (!hasFailed(told)) break;
      permits.delete(permit);
    }
    this.#left.set(account, performance.now() + Math.min(ms ?? LEFT_MS, MAX_LEFT_MS));
  }

  isWaiting(job: JobId): boolean {
    return this.#waits.isWaiting(job);
  }

  waitedMs(job: JobId): number {
    return this.#waits.waitedMs(job);
  }

  /** Retries while Postgres is away, because no model may be called meanwhile. */
  async #ask(
    { accounts, most }: Pick<WantedCall, "most"> & { readonly accounts: readonly string[] },
    { permit, asked }: { readonly permit: string; readonly asked: string },
    signal: AbortSignal,
  ): Promise<Admitted | Failed | { readonly waitMs: number | undefined }> {
    const values = [permit, asked, accounts, ...inWholes(most)];
    const statement = "SELECT * FROM $S.admit($1, $2, $3, $4, $5)";
    const always = { patienceMs: Number.POSITIVE_INFINITY, signal };
    const rows = await this.#options.database.ask<Answer>(statement, values, always);
    if (hasFailed(rows)) return failedWith("interrupted", rows.failure.message, rows.failure.next);
    const answer = rows[0]!;
    if (answer.is === "refused") return { failure: readFailure(answer.failure) };
    if (answer.is === "wait") return { waitMs: answer.wait_ms ?? undefined };
    const [id, account] = [Number(answer.id), answer.account!];
    this.#open.set(id, permit);
    const permits = this.#permits.get(account) ?? new Set();
    permits.delete(permit);
    this.#permits.set(account, permits.add(permit));
    return { id, account };
  }

  #listen(stack: DisposableStack) {
    const { database, run } = this.#options;
    return ["accounts", `calls:${run}`].map((channel) => stack.use(database.nudges(channel)));
  }
}

/** An unknown price is left out. */
const inWholes = ({ tokens, microdollars }: CallAmount): readonly (number | null)[] => [
  Math.ceil(tokens),
  microdollars === undefined ? null : Math.ceil(microdollars),
];

/** Long enough for a restart or a network partition, because charges must reach Postgres in the end. */
const PATIENT = { patienceMs: 600_000 };

async function anyOf(
  nudges: readonly ReturnType<Database["nudges"]>[],
  signal: AbortSignal,
  maxMs: number | undefined,
): Promise<void> {
  const one = new AbortController();
  const either = AbortSignal.any([signal, one.signal]);
  await Promise.race(nudges.map((nudge) => nudge.next(either, maxMs === undefined ? undefined : maxMs + 1)));
  one.abort();
}

/** Shortened, because Postgres takes no more than 8 KB. The output of tools is in the job's own files. */
function inShort({ detail: _, ...why }: Failure): Failure {
  const next = why.next === undefined ? {} : { next: why.next.slice(0, 500) };
  return { ...why, message: why.message.slice(0, 500), ...next };
}

/** The failures that may be reported of an account, or of a spent budget. */
export const ACCOUNT_FAILURE = z.object({
  kind: z.enum(["quota", "authentication", "budget"]),
  message: z.string(),
  next: z.string().optional(),
  detail: z.string().optional(),
  account: z.string().optional(),
  until: z.number().optional(),
  waitMs: z.number().optional(),
  budget: z.enum(["run", "subtree", "task"]).optional(),
});

/** Reads a failure that another process wrote. */
export function readFailure(text: string | null): Failure {
  const read = ACCOUNT_FAILURE.safeParse(text === null ? undefined : parseJson(text));
  return read.success ? (read.data as Failure) : failure("authentication", "the account's key was refused");
}
