/** The port that has jobs executed here or elsewhere. Must not throw: every error is reported as an outcome. */
import type { Brief } from "../core/brief.ts";
import type { GateRecord } from "../core/gate.ts";
import type { Job, JobId, Outcome, Spent } from "../core/job.ts";
import type { Report } from "../core/log/event.ts";

export type JobQueue = {
  /** The answer comes as an `ended` report, once, perhaps late, perhaps never. */
  offer(job: Job, brief: Brief, report: (report: Report) => void): void;
  /** Asks the job to end, and keeps its work. It may still report. Unknown ids are allowed. */
  cancel(id: JobId): void;
  /** After a restart: the state of a job that an earlier engine had offered. `report` as in `offer`. */
  recover(job: Job, report: (report: Report) => void): Promise<Recovered>;
};

export type Recovered =
  | { readonly is: "answered"; readonly answer: Answer }
  | { readonly is: "running" }
  /** With what it had cost so far, if known. */
  | { readonly is: "gone"; readonly spent?: Spent };

/** What an executor returns. */
export type Answer = {
  readonly outcome: Outcome;
  readonly spent?: Spent;
  /** The gate runs that it began. */
  readonly gates?: readonly GateRecord[];
};

/** Executes one job from its brief alone; returns failures instead of throwing, and ends soon after `signal` aborts. */
export type RunJob = (brief: Brief, signal: AbortSignal) => Promise<Answer>;
