/** What can the log say? Facts, in the past tense; and what can be said to a run. */

import type { Deferral } from "../answers/plan-answer.ts";
import type { Failure } from "../failure.ts";
import type { GateReport, Probed, Proof } from "../gate.ts";
import type { Handoff } from "../handoff.ts";
import type { Job, JobId, Member, Outcome, Spent } from "../job.ts";
import type { Phase } from "../rules/landing.ts";
import type { ProblemClass } from "../rules/repair.ts";
import type { SubtaskQuestion, ToolResponse } from "../subtask.ts";
import type { TaskId, TaskSpec } from "../task.ts";

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
  | {
      readonly type: "run.closed";
      readonly how: RunEnd;
      readonly left: readonly string[];
      /** What planners gave up, for programs; `left` says it in words. */
      readonly givenUp?: readonly GivenUpView[];
    }
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
  /** The machine's clock was set by so much, forward or back. `at` goes on as before; what others named by it moves. */
  | { readonly type: "clock.jumped"; readonly ms: number }
  /**
   * No sign of life for so long; 0: it has given one again. With `doing`, for so long in this, which is slow: a command
   * of the gate, a model that does not answer. For people; nothing follows from it.
   */
  | { readonly type: "job.quiet"; readonly job: JobId; readonly ms: number; readonly doing?: string }
  /** While a job's gate, set-up command or criterion ran, by it or by somebody else. For people; nothing follows. */
  | { readonly type: "checkout.changed"; readonly job: JobId; readonly places: readonly string[] }
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
      /** Concerns about something undone that were closed by their id alone: that is asked about once. */
      readonly sentBack?: readonly string[];
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
  /** The worker's turn ended with a call; it goes on when the subtask has ended. `start`: its workspace, kept. */
  | (Suspended & { readonly type: "subtask.spawned"; readonly into: NewTask })
  /** No subtask was begun: the worker goes on with the reason. */
  | (Suspended & { readonly type: "subtask.refused"; readonly response: ToolResponse })
  | (Suspended & { readonly type: "question.asked"; readonly question: SubtaskQuestion })
  /** Asked in vain: once more at `retryAt`, or further up, maybe in the words of the task that passes it on. */
  | {
      readonly type: "question.passed";
      readonly question: string;
      readonly to: SubtaskQuestion["to"];
      readonly text?: string;
      /** Of that task's turn, which is part of its conversation. */
      readonly attempt?: number;
      readonly retryAt?: number;
      /** It was lost through no fault of that task's: it does not count as a try. */
      readonly isFree?: true;
    }
  | {
      readonly type: "question.answered";
      readonly question: string;
      readonly text: string;
      readonly by: "person" | "default" | Member;
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
  /** It changes what the gate runs, or what steers agents: it does not land before a person says so. */
  | { readonly type: "landing.proposed"; readonly task: TaskId; readonly flags: readonly string[] }
  | { readonly type: "landing.approved"; readonly task: TaskId }
  /** It is attempted again, or has failed, as the next fact says. */
  | { readonly type: "landing.declined"; readonly task: TaskId; readonly reason: string }
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
  /** The gate or a workspace cannot be made ready here: nothing is started before a person says `resume`. */
  | { readonly type: "setup.failed"; readonly failure: Failure }
  | { readonly type: "setup.retried" }
  /** Whether the gate's commands look at the tree that they run in. `unproven` is followed by `setup.failed`. */
  | { readonly type: "gate.probed"; readonly probed: Probed }
  | { readonly type: "gate.unprobed"; readonly failure: Failure }
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

/** A worker that waits for what it called for. */
type Suspended = {
  readonly task: TaskId;
  readonly attempt: number;
  readonly start: string;
  /** The job whose conversation goes on: as a rule that of this attempt. */
  readonly session: JobId;
  /** Concerns of the turn that ended, for the handoff that comes at last. */
  readonly notes?: readonly string[];
};

/** A task as it is made. `rank` is its place in the queue: smaller goes first, then age. */
export type NewTask = { readonly id: TaskId; readonly spec: TaskSpec; readonly rank: number };

export type PlanSaid = {
  readonly scratchpad: string;
  readonly addressed: readonly Addressed[];
  /** Handoffs and steering messages that this answer took account of. */
  readonly heard: number;
  readonly steers: number;
  readonly deferred?: readonly Deferral[];
};

/** A concern that is dealt with. If it is about something undone: by which task, or why not. */
export type Addressed = { readonly concern: string; readonly by?: TaskId; readonly because?: string };

/** A task that was not done and is no longer asked for, and what its planner said about it. */
export type GivenUpView = {
  readonly task: TaskId;
  readonly name: string;
  /** The planner's own name for it. */
  readonly key: string;
  /** What was wrong with it. */
  readonly failure: string;
  readonly reason: string;
};

/** A fact in the log: `at` is when it was decided, in ms, by the run's own time, which no setting of a clock changes. */
export type Event = Fact & { readonly at: number };
export type EventOf<T extends Event["type"]> = Extract<Event, { readonly type: T }>;

/** What people ask for. */
export type Command =
  | { readonly type: "open"; readonly request: RunRequest }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "steer"; readonly message: string }
  /** Of the landing of a task; without one, of the plan that was proposed, else of all landings that wait. */
  | { readonly type: "approve"; readonly task?: TaskId }
  | { readonly type: "decline"; readonly reason: string; readonly task?: TaskId }
  | { readonly type: "answer"; readonly question: string; readonly text: string }
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
  | { readonly type: "quiet"; readonly job: JobId; readonly ms: number; readonly doing?: string }
  /** The user's checkout is not as it was before a command of this job ran. */
  | { readonly type: "checkout-changed"; readonly job: JobId; readonly places: readonly string[] }
  /** The machine's clock shows so much more, or less, than was known. */
  | { readonly type: "clock-jumped"; readonly ms: number }
  /** A deadline that `due` named has come. */
  | { readonly type: "tick" };

/** Everything that reaches `decide`, with the time at which it was taken up. */
export type Input = (Command | Report) & { readonly at: number };
