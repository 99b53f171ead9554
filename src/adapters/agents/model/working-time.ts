/** Limits the working time of a turn. Waiting for a quota does not count. */
import { MAX_TIMER_MS } from "../ends.ts";

export class WorkingTime {
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #leftMs: number;
  #since = 0;

  constructor(maxMs: number) {
    this.#leftMs = maxMs;
    this.#run();
  }

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
