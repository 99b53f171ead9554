/** How long has a turn been at work? Time that it waits for a quota is not its own. */

export class WorkingTime {
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #leftMs: number;
  #since = 0;

  constructor(maxMs: number) {
    this.#leftMs = maxMs;
    this.#run();
  }

  /** Aborted once all of it is used. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  pause(isPaused: boolean): void {
    if (isPaused === (this.#timer === undefined)) return;
    if (!isPaused) {
      this.#run();
      return;
    }
    this.stop();
    this.#leftMs -= performance.now() - this.#since;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#over.abort(), Math.min(Math.max(0, this.#leftMs), MAX_TIMER_MS));
  }
}

/** The longest that a timer takes, about 24 days: of more it makes a millisecond. */
const MAX_TIMER_MS = 2 ** 31 - 1;
