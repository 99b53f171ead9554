/** What can the log say? Facts, in the past tense; and what can be said to a run. */
import type { Failure } from "./failure.ts";
import type { GateReport, Proof } from "./gate.ts";
import type { Handoff } from "./handoff.ts";
import type { Job, JobId, Member, Outcome, Spent } from "./job.ts";
import type { Phase } from "./landing.ts";
import type { Deferral } from "./plan-answer.ts";
import type { ProblemClass } from "./repair.ts";
import type { TaskId, TaskSpec } from "./task.ts";

export type RunRequest = {
  readonly run: string;
  readonly goal: string;
  /** The commit that the target starts from. */
  readonly base: string;
  /** Tests that earlier runs in this repository saw fail and pass on one tree. */
  readonly flaky?: readonly string[];
};

export type RunEnd = "done" | "incomplete" | "failed" | "cancelled";

/** `answered-late` still counts, `dropped` came too late. The last three ended without an answer. */
export type JobEnd = "answered" | "answered-late" | "dropped" | "expired" | "interrupted" | "aborted";

/** What an attempt that came to nothing is counted as (see `Tries`). */
export type Charge = "failed" | "refused" | "lost" | "unreachable" | "nothing";

export type Fact =
  | { readonly type: "run.opened"; readonly request: RunRequest; readonly spec: TaskSpec }
  | { readonly type: "run.paused" }
  | { readonly type: "run.resumed" }
  | { readonly type: "run.steered"; readonly message: string }
  /** Nothing new starts; what is landing finishes; then it closes as cancelled. */
  | { readonly type: "run.cancel-requested"; readonly reason: string }
  | { readonly type: "run.closed"; readonly how: RunEnd; readonly left: readonly string[] }
  | { readonly type: "command.refused"; readonly command: string; readonly reason: string }
  | { readonly type: "job.started"; readonly job: Job; readonly until: number }
  | { readonly type: "job.ended"; readonly job: JobId; readonly how: JobEnd; readonly spent?: Spent }
  /** All of its accounts are parked until `parkedUntil`: its lease, now `until`, does not run out meanwhile. */
  | {
      readonly type: "job.extended";
      readonly job: JobId;
      readonly until: number;
      readonly parkedUntil: number;
    }
  /** No sign of life for so long; 0: it has given one again. For people; nothing follows from it. */
  | { readonly type: "job.quiet"; readonly job: JobId; readonly ms: number }
  /** It has no more to give before `until`: nobody is started who would have to call it. */
  | {
      readonly type: "account.parked";
      readonly account: string;
      readonly until: number;
      readonly failure: Failure;
    }
  /** Its key is wrong, or may not do this: nobody is started on it before a person says `resume`. */
  | { readonly type: "account.refused"; readonly account: string; readonly failure: Failure }
  | { readonly type: "account.woken"; readonly account: string }
  /** The first job since it was woken has come to something: it is no longer in trouble in a row. */
  | { readonly type: "account.worked"; readonly account: string }
  | {
      readonly type: "plan.accepted";
      readonly task: TaskId;
      readonly into: readonly NewTask[];
      readonly replanAfter: number;
      readonly said: PlanSaid;
      /** What was removed, dropped, serialised or left uncovered: the planner is told. */
      readonly notes: readonly string[];
    }
  /** Nobody is put to work on these before a person says so. */
  | { readonly type: "plan.proposed"; readonly tasks: readonly TaskId[] }
  | { readonly type: "plan.approved" }
  /** Its tasks are cancelled, and the planner is told why. */
  | { readonly type: "plan.declined"; readonly reason: string }
  | {
      readonly type: "plan.rejected";
      readonly task: TaskId;
      readonly failure: Failure;
      readonly reasons: readonly string[];
      readonly retryAt: number;
      readonly charge: "error" | "unreachable" | "nothing";
    }
  | { readonly type: "plan.kept-whole"; readonly task: TaskId }
  | {
      readonly type: "plan.ended";
      readonly task: TaskId;
      readonly over: "finished" | Failure;
      readonly said?: PlanSaid;
    }
  | {
      readonly type: "task.handed-off";
      readonly task: TaskId;
      readonly attempt: number;
      readonly handoff: Handoff;
    }
  | {
      readonly type: "task.retried";
      readonly task: TaskId;
      readonly attempt: number;
      readonly failure: Failure;
      readonly handoff?: Handoff;
      readonly charge: Charge;
      readonly retryAt: number;
    }
  | { readonly type: "task.woken"; readonly task: TaskId }
  | {
      readonly type: "task.held-back";
      readonly task: TaskId;
      readonly behind: TaskId;
      readonly until: "settled" | "idle";
    }
  | { readonly type: "task.done"; readonly task: TaskId; readonly handoff: Handoff }
  | {
      readonly type: "task.failed";
      readonly task: TaskId;
      readonly failure: Failure;
      /** What the last attempt had made, if it came so far. */
      readonly handoff?: Handoff;
    }
  | { readonly type: "task.skipped"; readonly task: TaskId; readonly because: TaskId }
  | { readonly type: "task.cancel-requested"; readonly task: TaskId; readonly reason: string }
  | { readonly type: "task.cancelled"; readonly task: TaskId; readonly reason: string }
  | {
      readonly type: "batch.landed";
      readonly members: readonly Member[];
      readonly commit: string;
      readonly proof: Proof | "found";
      readonly flaky: readonly string[];
    }
  /** Somebody put the target back to before it. Found again, it is told as `batch.landed` once more. */
  | { readonly type: "landing.lost"; readonly commit: string; readonly members: readonly Member[] }
  | {
      readonly type: "landing.turned";
      readonly phase: Phase;
      readonly requeue: readonly TaskId[];
      readonly errors: number;
      readonly retryAt: number;
      /** What the gate wrote when it was last red, for those who may be refused for it. */
      readonly detail?: string;
      /** Why the last landing came to nothing, if it was for reasons of the repository or the machine. */
      readonly failure?: Failure;
    }
  | { readonly type: "target.checked"; readonly tip: string; readonly report: GateReport }
  | { readonly type: "target.unchecked"; readonly failure: Failure }
  | { readonly type: "target.moved"; readonly tip: string }
  | { readonly type: "base.moved"; readonly commit: string }
  | {
      readonly type: "repair.planned";
      readonly into: readonly NewTask[];
      readonly round: number;
      readonly failures: number;
      /** The class that it repairs; unknown in runs of an older Skein. */
      readonly class?: ProblemClass;
      readonly notes: readonly string[];
    }
  | { readonly type: "repair.given-up"; readonly failures: readonly string[] }
  /** `all`: also the part that is kept for finished work to land. */
  | { readonly type: "budget.exhausted"; readonly spent: Spent; readonly all?: true };

/** A task as it is made. `rank` is its place in the queue: smaller goes first, then age. */
export type NewTask = { readonly id: TaskId; readonly spec: TaskSpec; readonly rank: number };

export type PlanSaid = {
  readonly scratchpad: string;
  readonly addressed: readonly string[];
  /** Handoffs and steering messages that this answer took account of. */
  readonly heard: number;
  readonly steers: number;
  readonly deferred?: readonly Deferral[];
};

/** A fact in the log: `at` is when it was decided, in ms. */
export type Event = Fact & { readonly at: number };
export type EventOf<T extends Event["type"]> = Extract<Event, { readonly type: T }>;

/** What people ask for. */
export type Command =
  | { readonly type: "open"; readonly request: RunRequest }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "steer"; readonly message: string }
  /** Of the plan that was proposed. */
  | { readonly type: "approve" }
  | { readonly type: "decline"; readonly reason: string }
  | { readonly type: "cancel"; readonly task?: TaskId; readonly reason?: string };

/** What arrives from the world. */
export type Report =
  | { readonly type: "ended"; readonly job: JobId; readonly outcome: Outcome; readonly spent?: Spent }
  /** Its executor is gone, through no fault of the task: the engine was restarted. */
  | { readonly type: "interrupted"; readonly job: JobId; readonly spent?: Spent }
  | { readonly type: "base-moved"; readonly commit: string }
  /** An account's quota is used up, or its key refused; the jobs that found out go on, and wait for it themselves. */
  | { readonly type: "account-refused"; readonly account: string; readonly failure: Failure }
  /** It has answered a call since it was woken: the turn that made it may go on for long. */
  | { readonly type: "account-worked"; readonly account: string }
  /** A job has given no sign of life for so long; 0: it has again. */
  | { readonly type: "quiet"; readonly job: JobId; readonly ms: number }
  /** A deadline that `due` named has come. */
  | { readonly type: "tick" };

/** Everything that reaches `decide`, with the time at which it was taken up. */
export type Input = (Command | Report) & { readonly at: number };
