/** Decides when a model may be called, for a run in one process; counts costs that the log does not have yet. */
import type { Failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import type { Event, JobEnd } from "../core/log/event.ts";
import { failedWith } from "../core/result.ts";
import type { Live, NextAccount } from "../core/rules/governor.ts";
import type { Clock } from "../ports/clock.ts";
import type { Admitted, CallAmount, GovernedRun, RunGovernor, WantedCall } from "../ports/governor.ts";
import { orAbort } from "./or-abort.ts";
import { WaitTimes } from "./wait-times.ts";

export class InProcessGovernor implements RunGovernor {
  readonly #waits: WaitTimes;
  #run: GovernedRun = UNKNOWN;
  #count = 0;
  /** Refusals that the log does not have yet; meanwhile no call of these accounts is admitted. */
  readonly #pending = new Map<string, number>();
  readonly #live = new Map<JobId, { tokens: number; microdollars: number }>();
  readonly #open = new Map<number, { readonly job: JobId; readonly most: CallAmount }>();
  /** Accounts that have not answered since their limit ended, with the last call admitted before. */
  readonly #woken = new Map<string, number>();
  readonly #waiters = new Set<() => void>();

  constructor(clock: Clock) {
    this.#waits = new WaitTimes(clock);
  }

  /** Must be called before the first job starts. */
  connect(run: GovernedRun): void {
    this.#run = run;
  }

  async admit(call: WantedCall, signal: AbortSignal): Promise<Admitted | { readonly failure: Failure }> {
    while (!signal.aborted) {
      const next = this.#next(call.accounts);
      if (next.is === "refused") return { failure: next.failure };
      if (next.is === "free") {
        const tooMuch = this.#run.mayCall(call, this.#live);
        if (!tooMuch) return this.#setAside(call, next.account);
        // Amounts that are only set aside may be given back, so running calls do not end a run.
        if (this.#run.mayCall(call, this.#used())) return { failure: tooMuch };
      }
      await this.#wait(call.job, signal);
    }
    return failedWith("interrupted", "stopped before the model was called");
  }

  settle({ id, account }: Admitted, cost: CallAmount | "unknown"): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    const { job, most } = open;
    // If the cost is unknown, what was set aside stays charged.
    if (cost !== "unknown")
      this.#add(job, {
        tokens: cost.tokens - most.tokens,
        microdollars: (cost.microdollars ?? most.microdollars ?? 0) - (most.microdollars ?? 0),
      });
    if (
      cost !== "unknown" &&
      cost.tokens > 0 &&
      id > (this.#woken.get(account) ?? Number.POSITIVE_INFINITY)
    ) {
      this.#woken.delete(account);
      this.#run.worked(account);
    }
    this.#wakeAll();
  }

  refuse(account: string, why: Failure): void {
    this.#pending.set(account, (this.#pending.get(account) ?? 0) + 1);
    void this.#run.tell(account, why).then(() => {
      const others = (this.#pending.get(account) ?? 1) - 1;
      if (others === 0) this.#pending.delete(account);
      else this.#pending.set(account, others);
      this.#wakeAll();
    });
  }

  /** Follows the log, which knows the cost of a job once that has answered, and when the limit of an account ends. */
  readonly follow = (event: Event): void => {
    if (event.type === "job.ended" && HAS_ANSWERED.has(event.how)) {
      this.#live.delete(event.job);
      this.#waits.forget(event.job);
      this.#wakeAll();
    }
    if (event.type === "account.woken") this.#woken.set(event.account, this.#count);
    if (event.type === "account.woken" || event.type === "account.parked") this.#wakeAll();
  };

  /** Does nothing, because no other process has to be notified. */
  kept(): void {}

  isWaiting(job: JobId): boolean {
    return this.#waits.isWaiting(job);
  }

  waitedMs(job: JobId): number {
    return this.#waits.waitedMs(job);
  }

  /** The next account of a chain. An account with a refusal that is not in the log yet is left out. */
  #next(accounts: readonly [string, ...string[]]): NextAccount {
    const known = accounts.filter((account) => !this.#pending.has(account));
    const [first, ...rest] = known;
    if (first === undefined) return { is: "parked", until: undefined };
    const next = this.#run.next([first, ...rest]);
    // Not all accounts are refused: the log does not know about one of them yet.
    return next.is === "refused" && known.length < accounts.length
      ? { is: "parked", until: undefined }
      : next;
  }

  #setAside({ job, most }: WantedCall, account: string): Admitted {
    this.#count += 1;
    const id = this.#count;
    this.#open.set(id, { job, most });
    this.#add(job, { tokens: most.tokens, microdollars: most.microdollars ?? 0 });
    return { account, id };
  }

  /** What jobs have used, without what is set aside for running calls. */
  #used(): Live {
    const used = new Map(this.#live);
    for (const { job, most } of this.#open.values()) {
      const { tokens, microdollars } = used.get(job) ?? { tokens: 0, microdollars: 0 };
      used.set(job, {
        tokens: tokens - most.tokens,
        microdollars: microdollars - (most.microdollars ?? 0),
      });
    }
    return used;
  }

  #add(job: JobId, amount: { readonly tokens: number; readonly microdollars: number }): void {
    const { tokens, microdollars } = this.#live.get(job) ?? { tokens: 0, microdollars: 0 };
    this.#live.set(job, {
      tokens: tokens + amount.tokens,
      microdollars: microdollars + amount.microdollars,
    });
  }

  /** Waits until something changes; the log says when the limit of an account ends. */
  async #wait(job: JobId, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.add(resolve);
    const end = this.#waits.begin(job);
    this.#run.waits();
    await orAbort(promise, signal).catch(() => {}); // The caller checks the signal.
    this.#waiters.delete(resolve);
    end();
  }

  #wakeAll(): void {
    for (const wake of [...this.#waiters]) wake();
  }
}

/**
 * Ways to end with an answer. A job that was given up may go on for a while and spend; the log only has what it
 * reports itself.
 */
const HAS_ANSWERED: ReadonlySet<JobEnd> = new Set(["answered", "answered-late", "dropped"]);

const UNKNOWN: GovernedRun = {
  next: () => ({ is: "parked", until: undefined }),
  mayCall: () => undefined,
  budgets: () => [],
  isOpen: () => false,
  reserve: { tokens: 0 },
  accounts: [],
  tell: async () => {},
  worked: () => {},
  waits: () => {},
};
