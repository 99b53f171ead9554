/** Watches an agent's turn: reports when it is quiet or slow, and stops it when it is quiet or at work for too long. */
import { failure } from "../core/failure.ts";
import type { Agent, Ask, Called, Said } from "../ports/agent.ts";
import { MAX_APART_MS } from "../ports/clock.ts";
import type { Signs } from "../ports/signs.ts";

/** Runs the agent's turn; ends it when it has given no sign of life for long, or has used up its time. */
export async function runWatched(
  agent: Agent,
  ask: Ask,
  signs: Signs,
  signal: AbortSignal,
): Promise<Said | Called> {
  const watch = new Watch(ask, signs, signal);
  try {
    const onSlow = (doing: string | undefined) => watch.slow(doing);
    const said = await agent.turn({ ...ask, onSign: () => watch.sign(), onSlow }, watch.signal);
    // If the turn succeeded, keep its result even if a stop arrived meanwhile.
    if (watch.why === undefined || said.is !== "failed") return said;
    const spent = said.spent ? { spent: said.spent } : {};
    return { is: "failed", failure: failure("timed-out", watch.why, NEXT), ...spent };
  } finally {
    watch.end();
  }
}

const NEXT = "read its transcript (skein logs); quiet.stop and timeout limit how long Skein waits";

/** Times are by the turn's own clock, which stands still while the turn waits for its account. */
class Watch {
  readonly #ask: Ask;
  readonly #signs: Signs;
  readonly #outer: AbortSignal;
  readonly #own = new AbortController();
  #begun: number;
  #lastSign: number;
  #armedAt = 0;
  /** How far the machine's clock was ahead of the turn's clock when last read. */
  #apartMs: number;
  #warned = false;
  #slowIn: string | undefined;
  #callOff: () => void = () => {};
  why: string | undefined;

  constructor(ask: Ask, signs: Signs, signal: AbortSignal) {
    this.#ask = ask;
    this.#signs = signs;
    this.#outer = signal;
    this.#begun = this.#now();
    this.#lastSign = this.#begun;
    this.#apartMs = signs.clock.wall() - signs.clock.now();
    this.#arm();
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#outer, this.#own.signal]);
  }

  sign(): void {
    this.#seen(this.#now());
  }

  /** Reported when the slowness begins, and once more when it is over. */
  slow(doing: string | undefined): void {
    const before = this.#slowIn;
    this.#slowIn = doing;
    const { job } = this.#ask;
    if (doing !== undefined && before === undefined)
      this.#signs.tell({ job, ms: Math.max(1, this.#now() - this.#begun), doing });
    if (doing === undefined && before !== undefined) this.#signs.tell({ job, ms: 0, doing: before });
  }

  end(): void {
    this.#callOff();
    this.#callOff = () => {};
    this.#own.abort(); // The timer is not set again after this.
  }

  #now(): number {
    return this.#signs.clock.now() - this.#signs.waitedMs(this.#ask.job);
  }

  /** Sets the timer for the next moment at which silence has a consequence. */
  #arm(): void {
    this.#callOff();
    if (this.#own.signal.aborted) return;
    const { clock } = this.#signs;
    this.#armedAt = this.#now();
    const left = Math.max(1, this.#deadline() - this.#now());
    this.#callOff = clock.wakeAt(clock.now() + left, () => void this.#look());
  }

  #deadline(): number {
    const { quiet } = this.#signs;
    const over = this.#begun + this.#ask.maxMs;
    if (!quiet) return over;
    const next = this.#warned ? quiet.stopMs : Math.min(quiet.warnMs, quiet.stopMs);
    return Math.min(over, this.#lastSign + next);
  }

  async #look(): Promise<void> {
    const lateMs = this.#now() - this.#deadline();
    if (lateMs < 0) return this.#arm(); // There was a sign of life, or the turn waited for its account.
    if (lateMs > MAX_LATE_MS) return this.#slept();
    if (this.#now() >= this.#begun + this.#ask.maxMs) {
      return this.#stop(`it did not end within ${minutes(this.#ask.maxMs)} and was stopped`);
    }
    await this.#lookForChanges();
    if (this.#own.signal.aborted) return;
    const ms = this.#now() - this.#lastSign;
    if (this.#now() >= this.#deadline()) this.#judgeSilence(ms);
    this.#arm();
  }

  /**
   * The timer fired so late because the machine slept, and the turn with it: the time since it was set does not count.
   */
  #slept(): void {
    const ms = this.#now() - this.#armedAt;
    this.#begun += ms;
    this.#lastSign += ms;
    this.#arm();
  }

  #judgeSilence(ms: number): void {
    if (ms >= (this.#signs.quiet?.stopMs ?? Number.POSITIVE_INFINITY)) {
      this.#stop(
        `it gave no sign of life for ${minutes(ms)} (no word, no step, no changed file) and was stopped`,
      );
      return;
    }
    this.#warned = true;
    this.#signs.tell({ job: this.#ask.job, ms });
  }

  async #lookForChanges(): Promise<void> {
    const { clock } = this.#signs;
    const changed = await this.#signs.changedAt(this.#ask.folder, this.signal);
    const apartMs = clock.wall() - clock.now();
    const isSet = Math.abs(apartMs - this.#apartMs) > MAX_APART_MS;
    this.#apartMs = apartMs;
    // If the machine's clock was set, file times say nothing, so assume that a file has just changed.
    const ago = isSet ? 0 : clock.wall() - changed;
    const at = this.#now() - Math.max(0, ago);
    if (at > this.#lastSign) this.#seen(at);
  }

  /** If the turn was reported as quiet, reports that it is active again. */
  #seen(at: number): void {
    this.#lastSign = at;
    if (!this.#warned) return;
    this.#warned = false;
    this.#signs.tell({ job: this.#ask.job, ms: 0 });
    this.#arm();
  }

  #stop(why: string): void {
    this.why = why;
    this.#own.abort();
  }
}

/** Even a busy machine does not fire a timer so late: it must have slept. */
const MAX_LATE_MS = 60_000;

const minutes = (ms: number) =>
  ms < 60_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
