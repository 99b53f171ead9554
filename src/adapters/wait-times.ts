/** Measures how long each job has waited to call its model; calls that wait at the same time count once. */
import type { JobId } from "../core/job.ts";
import type { Clock } from "../ports/clock.ts";

export class WaitTimes {
  readonly #clock: Clock;
  /** How long each job has waited, and since when it waits now. */
  readonly #waited = new Map<JobId, { ms: number; since: readonly number[] }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a function that ends the wait. */
  begin(job: JobId): () => void {
    const begun = this.#clock.now();
    const { ms, since } = this.#waited.get(job) ?? { ms: 0, since: [] };
    this.#waited.set(job, { ms, since: [...since, begun] });
    return () => this.#end(job, begun);
  }

  forget(job: JobId): void {
    this.#waited.delete(job);
  }

  isWaiting(job: JobId): boolean {
    return (this.#waited.get(job)?.since.length ?? 0) > 0;
  }

  waitedMs(job: JobId): number {
    const waited = this.#waited.get(job);
    if (!waited) return 0;
    const since = waited.since[0];
    return waited.ms + (since === undefined ? 0 : this.#clock.now() - since);
  }

  #end(job: JobId, begun: number): void {
    const waited = this.#waited.get(job);
    if (!waited) return;
    const at = waited.since.indexOf(begun);
    const since = waited.since.toSpliced(at, 1);
    const whole = at === 0 && since.length === 0 ? this.#clock.now() - begun : 0;
    const part = at === 0 && since.length > 0 ? since[0]! - begun : 0;
    this.#waited.set(job, { ms: waited.ms + whole + part, since });
  }
}
