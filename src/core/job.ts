/** What can be executing? A job is one of four kinds; an outcome is what it came to. */

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

/** The attempt is part of what lands, so that no later attempt can be taken for it. */
export type Member = { readonly task: TaskId; readonly attempt: number };

export type Job =
  | { readonly kind: "plan"; readonly task: TaskId; readonly turn: number }
  | { readonly kind: "work"; readonly task: TaskId; readonly attempt: number }
  | LandJob
  /** `probe`: it asks whether the gate looks at the target, not how the target is. */
  | { readonly kind: "check"; readonly turn: number; readonly probe?: true };

/** As a rule one candidate is built on the target, gated, and the target moved to it. */
export type LandJob = {
  readonly kind: "land";
  readonly turn: number;
  readonly members: readonly Member[];
  /** It gates only: its candidate is built on those of these turns, as if they had landed. */
  readonly on?: readonly number[];
  /** It moves only: the candidate that the job of this turn has gated. */
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

/** "work:t.2#1" is of t.2; landings and checks are of no task. */
export const taskOfJob = (id: JobId): TaskId | undefined =>
  id.startsWith("plan:") || id.startsWith("work:")
    ? (slotOfId(id).slice("plan:".length) as TaskId)
    : undefined;

export type Conflict = {
  readonly task: TaskId;
  readonly files: readonly string[];
  readonly against: "target" | "batch";
};

/** A move of the target that a lost job made: found in the repository, by the proof that it left there. */
export type FoundLanding = { readonly commit: string; readonly members: readonly Member[] };

/** Where the target is now, and the landings on the way there. */
export type Moved = {
  readonly tip: string;
  readonly landings: readonly FoundLanding[];
  /** Commits that were taken back: the target had them, and its history has them no more. */
  readonly lost?: readonly string[];
};

/** A commit that may become the target as soon as the target is at `onto`, with what its proof will say. */
export type PassedCandidate = {
  readonly onto: string;
  readonly commit: string;
  readonly members: readonly Member[];
  readonly conflicts: readonly Conflict[];
  readonly proof: Proof;
  /** On a red target: what was compared with it, a line for each command. */
  readonly compared?: readonly string[];
  readonly report: GateReport;
  readonly flags: readonly string[];
};

/** Why a candidate that was gated ahead of its turn cannot land, if what it was built on does. */
export type FailedCandidate = Extract<Outcome, { readonly is: "red" | "unmergeable" }>;

/** A candidate that is gated ahead of its turn. */
export type TrainCandidate = {
  /** Of the land job that gates it. */
  readonly turn: number;
  readonly members: readonly Member[];
  /** When its job began: the date of its commits. */
  readonly since: number;
  /** The turns of those that it is built on and that have not landed yet, the first to land first. */
  readonly on: readonly number[];
  /** Undefined while its gate runs. */
  readonly result?: PassedCandidate | FailedCandidate;
  /** The target is not where it was when this began, but for what it is built on. */
  readonly isStale?: true;
};

/** What a job came to. Every executor returns one; none throws. */
export type Outcome =
  | { readonly is: "planned"; readonly answer: PlanAnswer }
  | { readonly is: "worked"; readonly handoff: Handoff; readonly evidence: Evidence }
  /** The worker's turn, of job `session`, ended with a call. `start`: its workspace as it left it, as a commit. */
  | {
      readonly is: "called";
      readonly call: WorkerCall;
      readonly start: string;
      readonly session: JobId;
      /** What else was seen of the turn, for the handoff that comes at last. */
      readonly notes?: readonly string[];
      /** The specialist that it is: its subtask is no other, so that it may do no more. */
      readonly agent?: string;
    }
  /** What a task said to a question of its subtask: an answer, or the question in its own words, for others. */
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
      /** The tests that its gate ran, where runners tell their number. */
      readonly ran?: readonly TestsRan[];
    }
  /** The candidate of `members` passed, but what it was built on has not landed yet. */
  | ({ readonly is: "gated" } & PassedCandidate)
  /** The candidate of `members` did not pass; the target is where it was. */
  | {
      readonly is: "red";
      readonly members: readonly Member[];
      readonly conflicts: readonly Conflict[];
      readonly failures: readonly string[];
      /** Files that the gate named with them. */
      readonly files?: readonly string[];
      /** The end of what the gate wrote. */
      readonly detail?: string;
      /** What was installed was not what its tree asks for: what differs, and what to do. */
      readonly stale?: string;
      readonly onto?: string;
      /** It failed in a used workspace: nobody is refused for that alone. */
      readonly leftovers?: GateLeftovers;
    }
  /** No member could be merged. `onto`: onto this commit, of a candidate that was gated ahead of its turn. */
  | { readonly is: "unmergeable"; readonly conflicts: readonly Conflict[]; readonly onto?: string }
  /** What these members had handed in is not in the repository any more. Nothing was gated. */
  | { readonly is: "gone"; readonly members: readonly Member[] }
  /** The target is not where it was thought to be. */
  | ({ readonly is: "moved" } & Moved)
  | {
      readonly is: "checked";
      readonly tip: string;
      readonly report: GateReport;
      readonly problems: readonly Problem[];
      /** What fails, in the words of the commands that failed. */
      readonly look?: BaseLook;
      /** The gate was not run: it passed on the same tree at that moment, by the machine's clock. */
      readonly passedAt?: number;
      /** The gate was not run: `report` is what it had said of this tip before. */
      readonly isKnown?: true;
      /** It failed in a used workspace: nothing is called red or flaky for that alone. */
      readonly leftovers?: GateLeftovers;
      /** Where the target was by then, if not at `tip`. */
      readonly moved?: Moved;
    }
  | { readonly is: "probed"; readonly probed: Probed }
  | { readonly is: "failed"; readonly failure: Failure };

/** What a job came to, in short, as the log keeps it. */
export type JobOutcome = {
  /**
   * Of a landing, `passed`: its candidate was gated ahead of its turn; `conflict`: nothing of it could be merged. Of a
   * check, `known`: the gate was not run. `failed`: its answer was no answer to what it was asked.
   */
  readonly is:
    | ("planned" | "worked" | "called" | "answered" | "passed-on")
    | ("landed" | "passed" | "red" | "conflict" | "gone" | "moved" | "known")
    | "failed";
  /** Why it does not count: a plan that was rejected, a change that breaks a rule, a machine that failed. */
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
   * When to try again at the earliest: what expired may still answer; and an account's trouble that its own accounts
   * do not show lasts, if anybody knows how long.
   */
  readonly notBefore?: number | "unknown";
};
