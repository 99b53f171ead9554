/** Types of the four kinds of jobs, their ids and slots, and the outcomes that they return. */

import type { PlanAnswer } from "./answers/plan-answer.ts";
import type { BaseLook } from "./base-look.ts";
import type { Failure, FailureKind } from "./failure.ts";
import type { GateLeftovers, GateReport, Probed, Proof, TestsRan } from "./gate.ts";
import type { Handoff } from "./handoff.ts";
import type { JobId } from "./ids.ts";
import type { Evidence } from "./rules/evidence.ts";
import type { Problem } from "./rules/repair.ts";
import type { WorkerCall } from "./subtask.ts";
import type { TaskId } from "./task.ts";
import type { Spent } from "./used.ts";

export type { Spent, TurnTally } from "./used.ts";
export type { JobId };

/** A task with the attempt that lands: so no later attempt can be taken for it. */
export type Member = { readonly task: TaskId; readonly attempt: number };

export type Job =
  | { readonly kind: "plan"; readonly task: TaskId; readonly turn: number }
  | { readonly kind: "work"; readonly task: TaskId; readonly attempt: number }
  | LandJob
  /** `probe`: the job finds out whether the gate looks at the tree at all, not whether the target passes. */
  | { readonly kind: "check"; readonly turn: number; readonly probe?: true };

/** As a rule it builds one candidate on the target, gates it, and moves the target to it. */
export type LandJob = {
  readonly kind: "land";
  readonly turn: number;
  readonly members: readonly Member[];
  /** The job only gates: its candidate is built on the candidates of these turns, as if they had landed. */
  readonly on?: readonly number[];
  /** The job only moves the target, to the candidate that the job of this turn has gated. */
  readonly moves?: number;
};

export function jobId(job: Job): JobId {
  switch (job.kind) {
    case "plan":
      return `plan:${job.task}#${job.turn}` as JobId;
    case "work":
      return `work:${job.task}#${job.attempt}` as JobId;
    case "land":
    case "check":
      return `${job.kind}#${job.turn}` as JobId;
  }
}

/** Of all jobs with one slot, only the newest counts. */
export const slotOf = (job: Job): string =>
  job.kind === "plan" || job.kind === "work" ? `${job.kind}:${job.task}` : job.kind;

export const slotOfId = (id: JobId): string => id.slice(0, id.lastIndexOf("#"));

/** "work:t.2#1" belongs to t.2; landings and checks belong to no task. */
export const taskOfJob = (id: JobId): TaskId | undefined =>
  id.startsWith("plan:") || id.startsWith("work:")
    ? (slotOfId(id).slice("plan:".length) as TaskId)
    : undefined;

export type Conflict = {
  readonly task: TaskId;
  readonly files: readonly string[];
  readonly against: "target" | "batch";
};

/**
 * A move of the target by a job whose report was lost: found in the repository by the proof that the job left there.
 */
export type FoundLanding = { readonly commit: string; readonly members: readonly Member[] };

/** Where the target is now, and the landings on the way there. */
export type Moved = {
  readonly tip: string;
  readonly landings: readonly FoundLanding[];
  /** Commits that the target once had and that are no longer in its history. */
  readonly lost?: readonly string[];
};

/** A commit that may become the target as soon as the target is at `onto`, with the contents of its proof. */
export type PassedCandidate = {
  readonly onto: string;
  readonly commit: string;
  readonly members: readonly Member[];
  readonly conflicts: readonly Conflict[];
  readonly proof: Proof;
  /** On a red target: how each command compares with the target, in one line each. */
  readonly compared?: readonly string[];
  readonly report: GateReport;
  readonly flags: readonly string[];
};

/** Why a candidate that was gated ahead of its turn cannot land, provided that what it was built on lands. */
export type FailedCandidate = Extract<Outcome, { readonly is: "red" | "unmergeable" }>;

/** A candidate that is gated ahead of its turn. */
export type TrainCandidate = {
  /** The turn of the land job that gates it. */
  readonly turn: number;
  readonly members: readonly Member[];
  /** When its job began, which is also the date of its commits. */
  readonly since: number;
  /** The turns of the candidates that it is built on and that have not landed yet, the first to land first. */
  readonly on: readonly number[];
  /** Undefined while its gate runs. */
  readonly result?: PassedCandidate | FailedCandidate;
  /** Something else than the candidates that it is built on has moved the target since it began. */
  readonly isStale?: true;
};

/** What a job returns. Every executor returns an outcome; none throws. */
export type Outcome =
  | { readonly is: "planned"; readonly answer: PlanAnswer }
  | { readonly is: "worked"; readonly handoff: Handoff; readonly evidence: Evidence }
  /** The worker's turn, of job `session`, ended with a call. `start`: the snapshot of its workspace. */
  | {
      readonly is: "called";
      readonly call: WorkerCall;
      readonly start: string;
      readonly session: JobId;
      /** Other observations of the turn, for the task's final handoff. */
      readonly notes?: readonly string[];
      /** The specialist that the worker is. Its subtask gets the same one, so that it has no more rights. */
      readonly agent?: string;
    }
  /** What a task replied to a question of its subtask: an answer, or the question reworded, to be passed on. */
  | { readonly is: "answered"; readonly question: string; readonly text: string }
  | { readonly is: "passed-on"; readonly question: string; readonly text?: string }
  /** Landed `members`; those in `conflicts` were left out of the candidate. */
  | {
      readonly is: "landed";
      readonly commit: string;
      readonly members: readonly Member[];
      readonly conflicts: readonly Conflict[];
      readonly proof: Proof;
      readonly compared?: readonly string[];
      /** What a person may want to look at, of the candidate as a whole. */
      readonly flags?: readonly string[];
      /** How many tests its gate ran, for runners that say so. */
      readonly ran?: readonly TestsRan[];
    }
  /** The candidate of `members` passed, but what it was built on has not landed yet. */
  | ({ readonly is: "gated" } & PassedCandidate)
  /** The candidate of `members` did not pass; the target has not moved. */
  | {
      readonly is: "red";
      readonly members: readonly Member[];
      readonly conflicts: readonly Conflict[];
      readonly failures: readonly string[];
      /** Files that the gate named together with the failures. */
      readonly files?: readonly string[];
      /** The end of the gate's output. */
      readonly detail?: string;
      /** The installed dependencies were not those that the tree asks for: the difference, and what to do. */
      readonly stale?: string;
      readonly onto?: string;
      /** It failed in a used workspace, and no task is refused for that alone. */
      readonly leftovers?: GateLeftovers;
    }
  /** No member could be merged. `onto`: the commit to merge onto, if the candidate was gated ahead of its turn. */
  | { readonly is: "unmergeable"; readonly conflicts: readonly Conflict[]; readonly onto?: string }
  /** The commits of these members are no longer in the repository. Nothing was gated. */
  | { readonly is: "gone"; readonly members: readonly Member[] }
  /** The target is not where the brief said. */
  | ({ readonly is: "moved" } & Moved)
  | {
      readonly is: "checked";
      readonly tip: string;
      readonly report: GateReport;
      readonly problems: readonly Problem[];
      /** What fails, in the words of the commands that failed. */
      readonly look?: BaseLook;
      /** The gate was not run, because it passed on the same tree at that time (ms of the machine's clock). */
      readonly passedAt?: number;
      /** The gate was not run: `report` is its earlier report of this tip. */
      readonly isKnown?: true;
      /** It failed in a used workspace, and nothing counts as red or flaky for that alone. */
      readonly leftovers?: GateLeftovers;
      /** Where the target is now, if not at `tip`. */
      readonly moved?: Moved;
    }
  | { readonly is: "probed"; readonly probed: Probed }
  | { readonly is: "failed"; readonly failure: Failure };

/** A job's outcome in short, as the log keeps it. */
export type JobOutcome = {
  /**
   * Of a landing, `passed`: its candidate was gated ahead of its turn; `conflict`: no member could be merged. Of a
   * check, `known`: the gate was not run. `failed`: the job returned no usable answer.
   */
  readonly is:
    | ("planned" | "worked" | "called" | "answered" | "passed-on")
    | ("landed" | "passed" | "red" | "conflict" | "gone" | "moved" | "known")
    | "failed";
  /** Why the outcome does not count: a plan that was rejected, a change that breaks a rule, a machine that failed. */
  readonly failure?: FailureKind;
  /** Of a candidate whose gate passed. */
  readonly proof?: Proof;
};

/** How a job ended. `free`: it was interrupted, which is not counted against the task. */
export type Ended = {
  readonly outcome: Outcome;
  readonly free: boolean;
  readonly spent?: Spent;
  /**
   * The earliest time of a retry: an expired job may still answer, and an account may be unusable for a while.
   * "unknown" if the account did not say for how long.
   */
  readonly notBefore?: number | "unknown";
};
