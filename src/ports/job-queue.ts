/** Who executes a job, and where? Must not throw: whatever goes wrong is a report. */
import type { Brief } from "../core/brief.ts";
import type { GateRecord } from "../core/gate.ts";
import type { Job, JobId, Outcome, Spent } from "../core/job.ts";
import type { Report } from "../core/log/event.ts";

export type JobQueue = {
  /** Its answer comes as an `ended` report, once, perhaps late, perhaps never. */
  offer(job: Job, brief: Brief, report: (report: Report) => void): void;
  /** Asks it to end, keeping its work. It may still report. Unknown ids are fine. */
  cancel(id: JobId): void;
  /** After a restart: what became of a job that an earlier engine had offered? `report` as in `offer`. */
  recover(job: Job, report: (report: Report) => void): Promise<Recovered>;
};

export type Recovered =
  | { readonly is: "answered"; readonly answer: Answer }
  | { readonly is: "running" }
  /** With what it had cost by then, if that is known. */
  | { readonly is: "gone"; readonly spent?: Spent };

/** What an executor returns. */
export type Answer = {
  readonly outcome: Outcome;
  readonly spent?: Spent;
  /** The runs of the gate that it began. */
  readonly gates?: readonly GateRecord[];
};

/** Executes one job from its brief alone; returns its failures, and ends soon after `signal` says so. */
export type RunJob = (brief: Brief, signal: AbortSignal) => Promise<Answer>;
