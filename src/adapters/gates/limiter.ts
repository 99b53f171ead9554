/** How many may run at once? Others wait in order of arrival, or until they are stopped. */

export class Limiter {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** `undefined` if `signal` came first. */
  async run<T>(act: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    if (!(await this.#turn(signal))) return undefined;
    try {
      return await act();
    } finally {
      this.#leave();
    }
  }

  async #turn(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#running < this.#max) {
      this.#running += 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const come = () => resolve(true);
    const stop = () => {
      const place = this.#waiting.indexOf(come);
      if (place === -1) return; // Its turn has come already.
      this.#waiting.splice(place, 1);
      resolve(false);
    };
    this.#waiting.push(come);
    signal.addEventListener("abort", stop, { once: true });
    const came = await promise;
    signal.removeEventListener("abort", stop);
    return came;
  }

  /** Hands the place to the next in line, so that no later caller can take it. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
