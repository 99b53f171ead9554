/** May this model be called now? One answer for all jobs of a run, so that quota and money are looked after in one place. */
import type { Failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
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
