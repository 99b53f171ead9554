/** Types of what a fleet's coordinator and workers exchange, and the ports by which a worker gets jobs and files. */
import type { Brief } from "../core/brief.ts";
import type { GateRecord, GateReport, Probed } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import type { Report } from "../core/log/event.ts";
import type { Failed } from "../core/result.ts";
import type { GatedTree, GateRun } from "./gate.ts";
import type { Answer } from "./job-queue.ts";

/** A commit, and a ref of the remote whose history contains it. */
export type NeededCommit = { readonly commit: string; readonly ref: string };

/** Everything that a worker is told of a job. */
export type JobOffer = {
  readonly run: string;
  /** The run's number in the database, under which its answers are waited for. */
  readonly runId: string;
  /** For a gate: the id of its landing or check, with a number. */
  readonly job: JobId;
  readonly needs: readonly NeededCommit[];
  readonly what: OfferedWork;
};

/**
 * `permit`: lets its holder call models for the job, read and write files of its run, and report. Each try has another
 * one.
 */
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
 * The commit that a try made. `as`: the attempt's branch, or the salvage of a failed attempt. `bundle`: the file with
 * its objects, if workers may not push.
 */
export type Made = {
  readonly commit: string;
  readonly as: "branch" | "salvage";
  readonly bundle?: string;
};

/** Which machine has begun a job, how many machines have lost it before, and how long ago it was begun. */
export type JobTaken = Pick<Extract<Report, { readonly type: "taken" }>, "machine" | "tries" | "agoMs">;

/** A job that this worker has, until it has answered or another machine took the job over. */
export type TakenJob = {
  readonly offered: OfferedJob;
  /** How often it was begun before; part of the name of its result's ref. */
  readonly tries: number;
  /** Aborted when the job was cancelled, or another machine has it. */
  readonly lost: AbortSignal;
  /** `late`: the job was cancelled, or another machine has it; the coordinator is told, and decides. */
  answer(result: JobResult): Promise<"taken" | "late" | Failed>;
};

export type JobSource = {
  /** Waits for the next job, or for the next gate; undefined once `signal` aborts. */
  next(signal: AbortSignal, what?: "any" | "gate"): Promise<TakenJob | undefined>;
};

/** Gates have this priority, other jobs a lower one: everything else waits for what lands. */
export const GATE_PRIORITY = 1_000;

/** Fetches what a worker needs for a job, and sends back what it made. None of these throws. */
export type WorkerStore = {
  /** Fetches commits from the remote. */
  fetchCommits(needs: readonly NeededCommit[], signal: AbortSignal): Promise<Failed | undefined>;
  /** Fetches files of the run; missing files are not needed. */
  fetchFiles(permit: string, names: readonly string[]): Promise<void>;
  sendTranscripts(offered: OfferedJob): Promise<void>;
  /** Sends all changed files of the job. */
  sendFiles(offered: OfferedJob): Promise<void>;
  /** Sends what was kept here as `ref`, under a name that only this try has, or as a bundle. */
  handIn(work: HandedIn, signal: AbortSignal): Promise<Made | Failed>;
};

type HandedIn = Pick<TakenJob, "offered" | "tries"> & {
  readonly ref: string;
  readonly commit: string;
};
