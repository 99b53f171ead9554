/** When was each task of a graph started, and when did it end? */

/** By node, in two lists of numbers: as fields of each task they would take three times the memory. */
export class TaskTimes {
  readonly #now: () => number;
  #started = new Float64Array(0);
  #ended = new Float64Array(0);

  constructor(now: () => number) {
    this.#now = now;
  }

  start(node: number): void {
    this.restore(node, this.#now());
  }

  end(node: number): void {
    if (node >= this.#ended.length) this.#grow(node);
    this.#ended[node] = this.#now();
  }

  /** What is not known is not said. */
  restore(node: number, startedAt = Number.NaN, completedAt = Number.NaN): void {
    if (node >= this.#started.length) this.#grow(node);
    this.#started[node] = startedAt;
    this.#ended[node] = completedAt;
  }

  startedAt(node: number): number | undefined {
    return known(this.#started[node]);
  }

  completedAt(node: number): number | undefined {
    return known(this.#ended[node]);
  }

  #grow(node: number): void {
    this.#started = longer(this.#started, node);
    this.#ended = longer(this.#ended, node);
  }
}

/** Not a number: not known, so that a clock may begin at 0. */
const known = (time: number | undefined): number | undefined =>
  time === undefined || Number.isNaN(time) ? undefined : time;

function longer(times: Float64Array, node: number): Float64Array<ArrayBuffer> {
  const more = new Float64Array(Math.max(16, times.length * 2, node + 1)).fill(Number.NaN);
  more.set(times);
  return more;
}
