/** How are jobs executed in the engine's own process? Each at once; the engine decides how many. */
import type { Brief } from "../../core/brief.ts";
import type { Report } from "../../core/event.ts";
import { failure, messageOf } from "../../core/failure.ts";
import { type Job, type JobId, jobId } from "../../core/job.ts";
import type { Answer, JobQueue, Recovered, RunJob } from "../../ports/job-queue.ts";

export class InProcessJobQueue implements JobQueue {
  readonly #run: RunJob;
  readonly #running = new Map<JobId, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  constructor(run: RunJob) {
    this.#run = run;
  }

  offer(job: Job, brief: Brief, report: (report: Report) => void): void {
    const id = jobId(job);
    const stop = new AbortController();
    const ended = this.#answer(brief, stop.signal).then((answer) => {
      this.#running.delete(id);
      report({ type: "ended", job: id, ...answer });
    });
    this.#running.set(id, { stop, ended });
  }

  cancel(id: JobId): void {
    this.#running.get(id)?.stop.abort();
  }

  /** A job lives as long as this process: what an earlier one had started is gone. */
  async recover(_job: Job): Promise<Recovered> {
    return { is: "gone" };
  }

  /** Ends everything and waits for it. */
  async close(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { stop } of all) stop.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** An executor that throws has a defect; the run goes on, and the failure says so. */
  async #answer(brief: Brief, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.#run(brief, signal);
    } catch (error) {
      return {
        outcome: { is: "failed", failure: failure("agent-failed", `the job broke: ${messageOf(error)}`) },
      };
    }
  }
}
