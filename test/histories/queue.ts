/** Runs jobs one at a time at their simulated times, so that a seed gives one history although git takes real time. */
import type { Brief } from "../../src/core/brief.ts";
import { type Job, type JobId, jobId } from "../../src/core/job.ts";
import type { Report } from "../../src/core/log/event.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { JobQueue, Recovered, RunJob } from "../../src/ports/job-queue.ts";

type World = {
  readonly clock: Clock;
  readonly msOf: (brief: Brief) => number;
  readonly run: RunJob;
  /** Such a job is not begun, and never answered. */
  readonly refuses: (brief: Brief) => boolean;
};

export class HistoryQueue implements JobQueue {
  readonly #world: World;
  readonly #waiting = new Map<JobId, () => void>();
  #busy: Promise<void>[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  offer(job: Job, brief: Brief, report: (report: Report) => void): void {
    const { clock, msOf, run, refuses } = this.#world;
    if (refuses(brief)) return;
    const id = jobId(job);
    const begin = async () => {
      this.#waiting.delete(id);
      const answer = await run(brief, new AbortController().signal);
      report({ type: "ended", job: id, ...answer });
    };
    this.#waiting.set(
      id,
      clock.wakeAt(clock.now() + msOf(brief), () => this.busyWith(begin())),
    );
  }

  cancel(id: JobId): void {
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
  }

  async recover(): Promise<Recovered> {
    return { is: "gone" };
  }

  /** Time stands still until the promise is settled. */
  busyWith(deed: Promise<void>): void {
    this.#busy.push(deed);
  }

  /** Waits for everything that has begun; false if nothing had. */
  async finish(): Promise<boolean> {
    const begun = this.#busy;
    this.#busy = [];
    await Promise.all(begun);
    return begun.length > 0;
  }
}
