/** Executes jobs in the engine's own process, each at once; the engine decides how many. */
import type { Brief } from "../../core/brief.ts";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import { type Job, type JobId, jobId } from "../../core/job.ts";
import type { Report } from "../../core/log/event.ts";
import type { Answer, JobQueue, Recovered, RunJob } from "../../ports/job-queue.ts";
import type { JobFiles } from "./job-files.ts";

export class InProcessJobQueue implements JobQueue {
  readonly #run: RunJob;
  readonly #files: JobFiles | undefined;
  readonly #running = new Map<JobId, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  /** With `files`, an answer that was not received survives this process. */
  constructor(run: RunJob, files?: JobFiles) {
    this.#run = run;
    this.#files = files;
  }

  offer(job: Job, brief: Brief, report: (report: Report) => void): void {
    const id = jobId(job);
    const stop = new AbortController();
    const ended = this.#answer(id, brief, stop.signal).then((answer) => {
      this.#running.delete(id);
      report({ type: "ended", job: id, ...answer });
    });
    this.#running.set(id, { stop, ended });
  }

  cancel(id: JobId): void {
    this.#running.get(id)?.stop.abort();
  }

  /** Finds the answer of an earlier process's job; the job itself ended with that process. */
  async recover(job: Job): Promise<Recovered> {
    const answer = await this.#files?.answerOf(jobId(job));
    if (answer) return { is: "answered", answer };
    const spent = await this.#files?.costOf(jobId(job));
    return spent ? { is: "gone", spent } : { is: "gone" };
  }

  async close(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { stop } of all) stop.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  async #answer(id: JobId, brief: Brief, signal: AbortSignal): Promise<Answer> {
    try {
      if (this.#files) await this.#files.begin(id, brief);
    } catch (error) {
      const why = `the job's files could not be written: ${messageOf(error)}`;
      return failed(failure("repository", why, "make room on the disk"));
    }
    const answer = await this.#executed(brief, signal);
    // A job that failed because it was stopped has not failed: it is started again after a restart.
    const isLasting = !signal.aborted || answer.outcome.is !== "failed";
    // A paid result is not dropped because a file cannot be written: the log may still take it.
    if (isLasting) await this.#files?.end(id, answer).catch(() => {});
    return answer;
  }

  /** An executor must not throw; if it does, the job fails and the run goes on. */
  async #executed(brief: Brief, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.#run(brief, signal);
    } catch (error) {
      return failed(failure("agent-failed", `the job broke: ${messageOf(error)}`));
    }
  }
}

const failed = (why: Failure): Answer => ({ outcome: { is: "failed", failure: why } });
