/** Sets the machine's clock in simulated runs, and checks that runs keep the time that really passed. */
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { type RunState, retryKey } from "../../src/core/log/state.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { type Clock, MAX_APART_MS } from "../../src/ports/clock.ts";
import type { Random } from "../../src/simulation/random.ts";
import type { Tally } from "./faults.ts";
import type { Shortage } from "./provider.ts";
import { must } from "./violation.ts";

const HOUR = 3_600_000;
const MAX_JUMP_MS = 30 * 24 * HOUR;

export type Jump = { readonly at: number; readonly ms: number };

/** Sets the clock forward or back, and mostly right again after a while. */
export function jumpsIn(random: Random, faults: Tally): readonly Jump[] {
  if (!random.chance(0.2)) return [];
  const jumps = Array.from({ length: random.between(1, 2) }, () => {
    const ms = random.spread(2_000, MAX_JUMP_MS) * random.pick([1, 1, -1]);
    const at = random.spread(1_000, 6 * HOUR);
    const isPutRight = random.chance(0.7);
    return [{ at, ms }, ...(isPutRight ? [{ at: at + random.spread(1, 3 * HOUR), ms: -ms }] : [])];
  }).flat();
  for (const { ms } of jumps) faults.add(ms > 0 ? "clock set forward" : "clock set back");
  return jumps;
}

/** Makes some accounts tell how long a shortage lasts, and others when it ends. */
export const someAsLength = (random: Random, shortages: readonly Shortage[]): readonly Shortage[] =>
  shortages.map((one) => (random.chance(0.5) ? { ...one, asLength: true } : one));

/** Checks the log against the time that really passed, which no engine sees. */
export class ClockInvariants {
  readonly #policy: Policy;
  readonly #jumps: readonly Jump[];
  readonly #restarts: () => number;
  #seenRestarts = 0;
  /** The real time of the last event, and how far the log's time was from it then. */
  #lastAt = 0;
  #apartMs = 0;
  readonly #heardAt = new Map<string, number>();
  /** The log's time after a clock jump was taken for time without an engine. */
  #leaptTo = 0;

  /** `restarts`: the number of engines after the first one. */
  constructor(policy: Policy, jumps: readonly Jump[], restarts: () => number) {
    this.#policy = policy;
    this.#jumps = jumps;
    this.#restarts = restarts;
  }

  /**
   * The log's time passes as the real time does, however the machine's clock is set: no lease or wait ends early or
   * late. A quota wakes when that clock shows the moment that was named. `state` is the state before the event.
   */
  before(event: Event, state: RunState, clock: Pick<Clock, "now" | "wall">): void {
    this.#timePasses(event, clock.now());
    if (event.type === "clock.jumped") this.#jumping(event, state, clock);
    if (event.type === "job.taken") this.#heardAt.set(event.job, event.at);
    if (event.type === "job.ended" && event.how === "expired") {
      // After a restart, an engine hears late that a machine took a job: the job's lease may be over by then.
      const until = Math.max(state.running.get(event.job)!.until, this.#heardAt.get(event.job) ?? 0);
      this.#onTime(`the lease of ${event.job}`, until, event.at);
    }
    if (event.type === "task.woken")
      this.#onTime(`the wait of ${event.task}`, state.deadlines.get(retryKey(event.task)), event.at);
    if (event.type === "account.woken") this.#waking(event, state, clock);
  }

  /** A jump may change the log's time only where no engine ran that could tell it from time that passed. */
  #timePasses({ at, type }: Event, now: number): void {
    const apartMs = at - now;
    const won = apartMs - this.#apartMs;
    if (Math.abs(won) > MAX_APART_MS) {
      const unseen = this.#jumps.filter((jump) => jump.at >= this.#lastAt && jump.at <= now);
      const isUnseen = this.#restarts() > this.#seenRestarts && unseen.length > 0;
      must(isUnseen, `the log's time changed by ${won} ms more than the real one, at ${type}`);
      const forward = unseen.reduce((sum, { ms }) => sum + Math.max(0, ms), 0);
      // A clock that was set back may be taken for a clock that was put right: then an earlier jump counts, too.
      const earlier = this.#jumps.filter((jump) => jump.at < this.#lastAt);
      const known = unseen.some(({ ms }) => ms < 0)
        ? Math.max(0, ...earlier.map(({ ms }) => Math.abs(ms)))
        : 0;
      must(won <= forward + known + MAX_APART_MS, `the log's time won ${won} ms`);
      this.#leaptTo = at;
    }
    this.#apartMs = apartMs;
    this.#lastAt = now;
    this.#seenRestarts = this.#restarts();
  }

  #jumping({ ms, at }: EventOf<"clock.jumped">, { aheadMs }: RunState, clock: Pick<Clock, "wall">): void {
    must(Math.abs(ms) > MAX_APART_MS, `a jump of ${ms} ms is none`);
    const shown = at + aheadMs + ms;
    must(
      Math.abs(clock.wall() - shown) <= MAX_APART_MS,
      `the clock is said to show ${shown}, not ${clock.wall()}`,
    );
  }

  #onTime(what: string, until: number | undefined, at: number): void {
    const lateMs = at - (until ?? at);
    must(lateMs >= 0, `${what} was ended ${-lateMs} ms too early`);
    must(lateMs <= MAX_APART_MS || until! <= this.#leaptTo, `${what} was ended ${lateMs} ms too late`);
  }

  #waking({ account, at }: EventOf<"account.woken">, state: RunState, clock: Pick<Clock, "wall">): void {
    const known = state.accounts.get(account);
    if (known?.is !== "parked") return; // The account had a refused key, which a person has replaced.
    this.#onTime(`the wait for ${account}`, known.until, at);
    const { until, waitMs } = known.failure;
    const waited = at - known.since;
    const isLong = waited >= this.#policy.quota.maxUntilMs;
    if (waitMs !== undefined)
      must(isLong || waited >= waitMs, `${account} was woken after ${waited} of ${waitMs} ms`);
    else if (until !== undefined) {
      const early = until - clock.wall();
      must(isLong || early <= MAX_APART_MS, `${account} was woken ${early} ms early, by the machine's clock`);
    }
  }
}
