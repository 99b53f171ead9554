/** Halts a run by itself, to be resumed later: when its set-up or a key failed, or a quota is back too late. */
import { type Failure, failure } from "../core/failure.ts";
import { type RunState, wallTime } from "../core/log/state.ts";
import { parkedAccounts, refusedAccounts } from "../core/rules/governor.ts";
import type { Policy } from "../core/rules/policy.ts";
import { isParked } from "../core/rules/standstill.ts";

export type Halt =
  | { readonly is: "setup"; readonly failure: Failure }
  | { readonly is: "refused"; readonly account: string; readonly failure: Failure }
  /** `until`: by the machine's clock, in ms. */
  | { readonly is: "parked"; readonly accounts: readonly string[]; readonly until: number };

/**
 * A failed set-up and a wrong key halt the run at once, even if other tasks could go on, because only a person can fix
 * them. `maxWaitMs`: how long to wait for a quota; `now`: by the machine's clock.
 */
function haltOf(
  state: RunState,
  { policy, maxWaitMs, now }: { readonly policy: Policy; readonly maxWaitMs: number; readonly now: number },
): Halt | undefined {
  if (state.closed !== undefined) return undefined;
  if (state.setup.failure) return { is: "setup", failure: state.setup.failure };
  const [account] = refusedAccounts(state);
  if (account) return { is: "refused", ...account };
  const parkedUntil = isParked(state, policy)?.until;
  if (parkedUntil === undefined) return undefined;
  const until = wallTime(state, parkedUntil);
  if (until - now <= maxWaitMs) return undefined;
  return { is: "parked", accounts: parkedAccounts(state).map(({ account: name }) => name), until };
}

/** The halt as a failure, for surfaces without words of their own. */
export function failureOf(halt: Halt): Failure {
  if (halt.is !== "parked") return halt.failure;
  const { accounts, until } = halt;
  const when = new Date(until).toISOString();
  return {
    ...failure(
      "quota",
      `${accounts.join(", ")} is rate limited until ${when}, longer than quota.wait allows`,
      `resume the run after ${when}, or raise quota.wait`,
    ),
    ...(accounts[0] !== undefined && { account: accounts[0] }),
    until,
  };
}

/** What the halting rule needs from a live run. */
type Haltable = {
  readonly state: RunState;
  /** True if an agent is doing anything except waiting until it may call its model. */
  readonly isAtWork: () => boolean;
  readonly stopGently: () => void;
};

type HaltRules = { readonly policy: Policy; readonly maxWaitMs: number; readonly now: () => number };

/** Stops a live run once there is a reason. Checks after each event, and when an agent begins to wait. */
export class Halting {
  readonly #run: Haltable;
  readonly #rules: HaltRules;
  #isHeard = false;
  #isLive = false;
  #halt: Halt | undefined;

  constructor(run: Haltable, rules: HaltRules) {
    this.#run = run;
    this.#rules = rules;
  }

  get halt(): Halt | undefined {
    return this.#halt;
  }

  /** Commands that came while no process drove the run are read first: one may be a cancel, so nothing halts before. */
  heard(): void {
    this.#isHeard = true;
    this.look();
  }

  /** An event of this engine is durable. Before the first one, the state is an earlier engine's. */
  watched(): void {
    this.#isLive = true;
    this.look();
  }

  look(): void {
    const { state, isAtWork, stopGently } = this.#run;
    if (!this.#isHeard || !this.#isLive || this.#halt) return;
    const found = haltOf(state, { ...this.#rules, now: this.#rules.now() });
    // An agent in the middle of a turn is not stopped: what is paid for is not cut off, and the turn will come to its
    // wait.
    if (!found || (found.is === "parked" && isAtWork())) return;
    this.#halt = found;
    stopGently();
  }
}
