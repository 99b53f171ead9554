/** What travels between the coordinator of a fleet and its workers, and where does a worker get its jobs? */
import type { Brief } from "../core/brief.ts";
import type { GateRecord, GateReport, Probed } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import type { Report } from "../core/log/event.ts";
import type { Failed } from "../core/result.ts";
import type { GatedTree, GateRun } from "./gate.ts";
import type { Answer } from "./job-queue.ts";

/** A commit, and a ref of the remote that has it in its history. */
export type NeededCommit = { readonly commit: string; readonly ref: string };

/** Everything that a worker is told of a job. */
export type JobOffer = {
  readonly run: string;
  /** The run's number in the database, where its answers are waited for. */
  readonly runId: string;
  /** Of a gate: of the landing or check that it belongs to, with a number. */
  readonly job: JobId;
  readonly needs: readonly NeededCommit[];
  readonly what: OfferedWork;
};

/** `permit`: lets its holder call models for the job, read and write files of its run, and report. Each try has another. */
export type OfferedJob = JobOffer & { readonly permit: string };

export type OfferedWork =
  | { readonly is: "brief"; readonly brief: Brief }
  | { readonly is: "gate"; readonly tree: GatedTree }
  | { readonly is: "probe"; readonly tree: GatedTree; readonly report: GateReport };

/** What a worker hands back. */
export type JobResult =
  | { readonly is: "answer"; readonly answer: Answer; readonly made?: Made }
  | { readonly is: "gated"; readonly gated: GateRun | Failed; readonly runs?: readonly GateRecord[] }
  | { readonly is: "probed"; readonly probed: Probed | Failed };

/**
 * The commit that a try made. `as`: the attempt's branch, or what is kept of a failed attempt. `bundle`: the file with
 * its objects, where workers may not push.
 */
export type Made = {
  readonly commit: string;
  readonly as: "branch" | "salvage";
  readonly bundle?: string;
};

/** Which machine has begun a job, how many have lost it before, and how long ago it was begun. */
export type JobTaken = Pick<Extract<Report, { readonly type: "taken" }>, "machine" | "tries" | "agoMs">;

/** A job that this worker has, until it has answered or another took it over. */
export type TakenJob = {
  readonly offered: OfferedJob;
  /** How often it was begun before: part of the name of what it makes. */
  readonly tries: number;
  /** Aborted when it was cancelled, or another machine has it. */
  readonly lost: AbortSignal;
  /** `late`: it was cancelled, or another machine has it; the coordinator is told, and decides. */
  answer(result: JobResult): Promise<"taken" | "late" | Failed>;
};

export type JobSource = {
  /** Waits for the next job, or for the next gate; undefined once `signal` comes. */
  next(signal: AbortSignal, what?: "any" | "gate"): Promise<TakenJob | undefined>;
};

/** Gates have this priority, other jobs a smaller one: everything else waits for what lands. */
export const GATE_PRIORITY = 1_000;

/** What a worker brings from elsewhere, and hands back. None of these throws. */
export type WorkerStore = {
  /** From the remote. */
  fetchCommits(needs: readonly NeededCommit[], signal: AbortSignal): Promise<Failed | undefined>;
  /** Files of the run; what is not there is not needed. */
  fetchFiles(permit: string, names: readonly string[]): Promise<void>;
  sendTranscripts(offered: OfferedJob): Promise<void>;
  /** All that changed of the job. */
  sendFiles(offered: OfferedJob): Promise<void>;
  /** What was kept here as `ref`, under the one name that this try has, or as a bundle. */
  handIn(work: HandedIn, signal: AbortSignal): Promise<Made | Failed>;
};

type HandedIn = Pick<TakenJob, "offered" | "tries"> & {
  readonly ref: string;
  readonly commit: string;
};
