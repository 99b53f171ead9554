/** The port that admits model calls for all jobs of a run, so that one place looks after quotas and budgets. */
import type { Failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import type { CallBudget, Live, NextAccount } from "../core/rules/governor.ts";
import type { TaskId } from "../core/task.ts";

export type Governor = {
  /**
   * Waits while all of the call's accounts are parked; then reserves the most that the call may cost, and returns the
   * account to call. `failure` is of kind "budget", "authentication", or "interrupted" if `signal` aborted first.
   */
  admit(call: WantedCall, signal: AbortSignal): Promise<Admitted | { readonly failure: Failure }>;
  /** Reports what an admitted call cost, once per call; "unknown" keeps its reserve charged. */
  settle(call: Admitted, cost: CallAmount | "unknown"): void;
  /**
   * Reports that a provider has limited an account (`quota`, with `until` if it said so), or refused its key
   * (`authentication`): no call to it is admitted before that is over.
   */
  refuse(account: string, why: Failure): void;
};

/** The governor of a run; the engine tells it the log's events. */
export type RunGovernor = Governor & {
  /** Called before the first job starts. */
  connect(run: GovernedRun): void;
  readonly follow: (event: Event) => void;
  /** The event is durable, so the fleet may be told about it. */
  kept(event: Event): void;
  /** Whether a job is waiting to call its model, and how long it has waited in all, in ms. */
  isWaiting(job: JobId): boolean;
  waitedMs(job: JobId): number;
};

/** The run that the jobs belong to. */
export type GovernedRun = {
  /** Which of the accounts may be called, according to the log. */
  readonly next: (accounts: readonly [string, ...string[]]) => NextAccount;
  /**
   * Why a call exceeds the budgets; undefined if it does not. `live`: what running jobs have used and the log does not
   * have yet.
   */
  readonly mayCall: (call: WantedCall, live: Live) => Failure | undefined;
  /** The budgets that a call of a task's job must fit into, as the log has them. */
  readonly budgets: (task: TaskId) => readonly CallBudget[];
  /** What counts for a running job that has called no model yet. */
  readonly reserve: CallAmount;
  /** True if the log does not have the job's cost yet. */
  readonly isOpen: (job: JobId) => boolean;
  /** All accounts that jobs of the run may call. */
  readonly accounts: readonly string[];
  /** Resolves once the log has it. */
  readonly tell: (account: string, why: Failure) => Promise<void>;
  /** An account that was rate limited has answered again. */
  readonly worked: (account: string) => void;
  /** Called when a job begins to wait. */
  readonly waits: () => void;
};

export type WantedCall = {
  readonly job: JobId;
  readonly task: TaskId;
  /** In the order of preference: the model's own account, then those of its fallbacks. */
  readonly accounts: readonly [string, ...string[]];
  /** The most that it may cost. An unknown price is left out. */
  readonly most: CallAmount;
};

export type CallAmount = { readonly tokens: number; readonly microdollars?: number };

export type Admitted = {
  readonly account: string;
  readonly id: number;
};
