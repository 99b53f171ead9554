/** May this model be called now? One answer for all jobs of a run, so that quota and money are looked after in one place. */
import type { Failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import type { CallBudget, Live, NextAccount } from "../core/rules/governor.ts";
import type { TaskId } from "../core/task.ts";

export type Governor = {
  /**
   * Waits while all of the call's accounts are parked; then sets aside what the call may cost at most, and says which
   * account to call. `failure` is of kind "budget", "authentication", or "interrupted" if `signal` came first.
   */
  admit(call: WantedCall, signal: AbortSignal): Promise<Admitted | { readonly failure: Failure }>;
  /** What an admitted call cost; "unknown" keeps what was set aside for it charged. Once for each admitted call. */
  settle(call: Admitted, cost: CallAmount | "unknown"): void;
  /**
   * A provider said that an account has no more to give (`quota`, with `until` if it said), or refused its key
   * (`authentication`): no call is admitted to it before that is over.
   */
  refuse(account: string, why: Failure): void;
};

/** The governor of a run, which the engine tells of the log. */
export type RunGovernor = Governor & {
  /** Before the first job starts. */
  connect(run: GovernedRun): void;
  readonly follow: (event: Event) => void;
  /** The event is durable: what others in a fleet must know of it can be told. */
  kept(event: Event): void;
  /** Whether a job waits until it may call its model, and how long it has waited in all. */
  isWaiting(job: JobId): boolean;
  waitedMs(job: JobId): number;
};

/** The run that the jobs belong to. */
export type GovernedRun = {
  /** Which of the accounts may be called, according to the log. */
  readonly next: (accounts: readonly [string, ...string[]]) => NextAccount;
  /** Why a call exceeds the budgets, if it does. `live`: what running jobs have used and the log does not have yet. */
  readonly mayCall: (call: WantedCall, live: Live) => Failure | undefined;
  /** What a call of a task's job must fit, as the log has it. */
  readonly budgets: (task: TaskId) => readonly CallBudget[];
  /** What counts for a job that runs and has called no model yet. */
  readonly reserve: CallAmount;
  /** Whether the log does not have yet what a job cost. */
  readonly isOpen: (job: JobId) => boolean;
  /** All accounts that jobs of the run may call. */
  readonly accounts: readonly string[];
  /** Resolves once the log has it. */
  readonly tell: (account: string, why: Failure) => Promise<void>;
  /** An account that was rate limited has answered again. */
  readonly worked: (account: string) => void;
  /** A job begins to wait. */
  readonly waits: () => void;
};

export type WantedCall = {
  readonly job: JobId;
  readonly task: TaskId;
  /** In the order of preference: the model's own, then those of its fallbacks. */
  readonly accounts: readonly [string, ...string[]];
  /** What it may cost at most. A price that is not known is left out. */
  readonly most: CallAmount;
};

export type CallAmount = { readonly tokens: number; readonly microdollars?: number };

export type Admitted = {
  readonly account: string;
  readonly id: number;
};
