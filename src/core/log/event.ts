/** Types of the log's facts, in the past tense, and of the commands and reports that reach a run. */

import type { Deferral } from "../answers/plan-answer.ts";
import type { BaseLook } from "../base-look.ts";
import type { Failure } from "../failure.ts";
import type { GateLeftovers, GateRecord, GateReport, Probed, Proof, TestsRan } from "../gate.ts";
import type { Handoff } from "../handoff.ts";
import type {
  FailedCandidate,
  Job,
  JobId,
  JobOutcome,
  Member,
  Outcome,
  PassedCandidate,
  Spent,
} from "../job.ts";
import type { Phase } from "../rules/landing.ts";
import type { OnRedBase } from "../rules/policy.ts";
import type { ProblemClass } from "../rules/repair.ts";
import type { SubtaskQuestion, ToolResponse } from "../subtask.ts";
import type { Delivers, EndedAs, TaskId, TaskSpec } from "../task.ts";

export type RunRequest = {
  readonly run: string;
  readonly goal: string;
  /** The commit that the target starts from. */
  readonly base: string;
  /** Tests that failed and passed on the same tree in earlier runs in this repository. */
  readonly flaky?: readonly string[];
  /** Default: a change. "report": the goal asks for an answer, and nothing lands unless a planner says otherwise. */
  readonly delivers?: Delivers;
};

export type RunEnd = "done" | "incomplete" | "failed" | "cancelled";

/** `answered-late` still counts; `dropped` came too late to count. The last three ended without an answer. */
export type JobEnd = "answered" | "answered-late" | "dropped" | "expired" | "interrupted" | "aborted";

/** What a failed attempt is counted as (see `Tries`). */
export type Charge = "failed" | "refused" | "lost" | "unreachable" | "nothing";

/** `silent`: no sign of life for a while. `draining`: takes no more jobs. `gone`: has left. */
export type MachineState = "ready" | "draining" | "silent" | "gone";

type Facts = {
  "run.opened": { request: RunRequest; spec: TaskSpec };
  "run.paused": Nothing;
  "run.resumed": Nothing;
  "run.steered": { message: string };
  /** Nothing new starts, landings that are under way finish, and then the run closes as cancelled. */
  "run.cancel-requested": { reason: string };
  "run.closed": {
    how: RunEnd;
    left: readonly string[];
    /** What planners gave up, as data; `left` says it in words. */
    givenUp?: readonly GivenUpView[];
  };
  "command.refused": { command: string; reason: string };
  /** `isOffered`: the job waits until a machine of the fleet takes it. */
  "job.started": { job: Job; until: number; isOffered?: true };
  /**
   * A machine of the fleet has begun the job, or the gate run in it, at `since`: the lease counts from there. `tries`:
   * how many machines have lost the job before.
   */
  "job.taken": { job: JobId; machine: string; tries: number; since: number; until: number };
  /** The job's machine is gone: the job waits for another machine, as it did when it was offered. */
  "job.returned": { job: JobId; until: number };
  /**
   * `outcome`: absent if the job was called off. `gates`: the gate runs of a landing or a check; absent in runs of an
   * older Skein.
   */
  "job.ended": {
    job: JobId;
    how: JobEnd;
    outcome?: JobOutcome;
    spent?: Spent;
    gates?: readonly GateRecord[];
  };
  /** All accounts of the job are parked until `parkedUntil`: its lease is extended to `until` for that time. */
  "job.extended": { job: JobId; until: number; parkedUntil: number };
  /** The state of a machine of the fleet; the first such event says that the machine has joined. */
  "machine.changed": { machine: string; state: MachineState; capacity: number; labels: readonly string[] };
  /** A database session of that machine held a lock or a job for `heldMs`, and was ended. */
  "machine.cut-off": { machine: string; heldMs: number };
  /** The machine's clock was set by `ms`. `at` goes on evenly; moments that others named by that clock move. */
  "clock.jumped": { ms: number };
  /**
   * The job gave no sign of life for `ms`; 0: it has given one again. With `doing`: it has been in this slow step for
   * `ms`, such as a command of the gate or a model that does not answer. For people; no rule reads it.
   */
  "job.quiet": { job: JobId; ms: number; doing?: string };
  /** Preparing the job's workspace took `ms` (copies, set-up) before its agent or its gate began. */
  "job.prepared": { job: JobId; ms: number; doing: string };
  /** The user's checkout changed while a command of the job ran. For people; no rule reads it. */
  "checkout.changed": { job: JobId; places: readonly string[] };
  /** The account is rate limited until `until`: no job that needs it starts. */
  "account.parked": { account: string; until: number; failure: Failure };
  /** The account's key was refused: no job that needs it starts before a person says `resume`. */
  "account.refused": { account: string; failure: Failure };
  "account.woken": { account: string };
  /** A job has succeeded on the account since it was woken: its count of rate limits in a row is reset. */
  "account.worked": { account: string };
  "plan.accepted": {
    task: TaskId;
    into: readonly NewTask[];
    replanAfter: number;
    said: PlanSaid;
    /** What was removed, dropped, serialised or left uncovered: the planner is told. */
    notes: readonly string[];
  };
  /** These tasks do not start before a person approves the plan. */
  "plan.proposed": { tasks: readonly TaskId[] };
  "plan.approved": Nothing;
  /** The tasks of the plan are cancelled, and the planner is told why. */
  "plan.declined": { reason: string };
  "plan.rejected": {
    task: TaskId;
    failure: Failure;
    reasons: readonly string[];
    retryAt: number;
    charge: "error" | "unreachable" | "nothing";
    /** Concerns about something undone that were closed by their id alone: the planner is asked about each once. */
    sentBack?: readonly string[];
  };
  "plan.kept-whole": { task: TaskId };
  "plan.ended": { task: TaskId; over: "finished" | Failure; said?: PlanSaid };
  "task.handed-off": { task: TaskId; attempt: number; handoff: Handoff };
  "task.retried": {
    task: TaskId;
    attempt: number;
    failure: Failure;
    handoff?: Handoff;
    charge: Charge;
    retryAt: number;
  };
  /** The task gave no answer: it is asked again at `retryAt`, or the question goes further up, perhaps reworded. */
  "question.passed": {
    question: string;
    to: SubtaskQuestion["to"];
    text?: string;
    /** The attempt in which the asked task had its turn: that turn becomes part of its conversation. */
    attempt?: number;
    retryAt?: number;
    /** The turn was lost through no fault of that task, so it does not count as a try. */
    isFree?: true;
  };
  "question.answered": { question: string; text: string; by: "person" | "default" | Member };
  "task.woken": { task: TaskId };
  "task.held-back": { task: TaskId; behind: TaskId; until: "settled" | "idle" };
  "task.done": { task: TaskId; handoff: Handoff; ended?: EndedAs };
  "task.failed": {
    task: TaskId;
    failure: Failure;
    handoff?: Handoff;
  };
  "task.skipped": { task: TaskId; because: TaskId };
  "task.cancel-requested": { task: TaskId; reason: string };
  "task.cancelled": { task: TaskId; reason: string };
  "batch.landed": {
    members: readonly Member[];
    commit: string;
    proof: Proof | "found";
    /** On a red target: how each command compares with the target, in one line each. */
    compared?: readonly string[];
    flaky: readonly string[];
    /** What a person may want to look at in the landing as a whole, such as fewer tests than on the target. */
    flags?: readonly string[];
    /** How many tests its gate ran, for runners that say so. */
    ran?: readonly TestsRan[];
    /** The turn of the land job that gated the batch, if other candidates are built on it. */
    turn?: number;
  };
  /** The candidate was gated ahead of its turn: it lands when what it was built on has landed, or is discarded. */
  "candidate.passed": { turn: number; passed: PassedCandidate };
  /** This says nothing about the candidate's members before what it was built on has landed. */
  "candidate.failed": { turn: number; failed: FailedCandidate };
  /** It changes what the gate, CI or hooks run, or what steers agents: it lands only after a person approves. */
  "landing.proposed": { task: TaskId; flags: readonly string[] };
  "landing.approved": { task: TaskId };
  /** The next fact says whether the task is attempted again or has failed. */
  "landing.declined": { task: TaskId; reason: string };
  /** The target was moved back to before it. If it is found again, another `batch.landed` says so. */
  "landing.lost": { commit: string; members: readonly Member[] };
  "landing.turned": {
    phase: Phase;
    requeue: readonly TaskId[];
    errors: number;
    retryAt: number;
    /** The gate's output when it was last red, for the tasks that may be refused for it. */
    detail?: string;
    /**
     * The dependencies installed for that run were not those that the tree asks for: the difference, and what to do.
     */
    stale?: string;
    /** Why the last landing failed, if the repository or the machine was the reason. */
    failure?: Failure;
    /** Candidates that were gated ahead of their turn and leave the train: discarded, or judged by now. */
    drop?: readonly number[];
    /** The candidates in `drop` were discarded, because what they were built on did not land. */
    isDiscard?: true;
    /** Of `requeue`: their candidate was red, but neither they nor the target were found to be at fault. */
    undecided?: readonly TaskId[];
  };
  /**
   * `leftovers`: it failed in a used workspace, and is checked again in a fresh one. `look`: what fails, if the base
   * fails before an agent was paid. `passedAt`: the gate was not run, since it passed on this tree then (ms of the
   * machine's clock).
   */
  "target.checked": {
    tip: string;
    report: GateReport;
    leftovers?: GateLeftovers;
    look?: BaseLook;
    passedAt?: number;
  };
  /**
   * The gate failed twice on the base, and no agent has been paid yet. `ask`: nothing starts before a person has
   * answered the question, or its time is up.
   */
  "base.failed": { look: BaseLook; choice: "ask" | OnRedBase; asked?: BaseQuestion };
  "base.answered": { choice: OnRedBase; by: "person" | "default" };
  /**
   * The gate failed so in a used workspace, and passed on the same tree in a fresh one. For people; no rule reads it.
   */
  "leftovers.found": { failures: readonly string[]; leftovers: GateLeftovers };
  "target.unchecked": { failure: Failure };
  /** The gate or a workspace cannot be made ready here: nothing starts before a person says `resume`. */
  "setup.failed": { failure: Failure };
  "setup.retried": Nothing;
  /** Whether the gate's commands look at the tree that they run in. `unproven` is followed by `setup.failed`. */
  "gate.probed": { probed: Probed };
  "gate.unprobed": { failure: Failure };
  "target.moved": { tip: string };
  "base.moved": { commit: string };
  "repair.planned": {
    into: readonly NewTask[];
    round: number;
    failures: number;
    /** The class of failures that it repairs; absent in runs of an older Skein. */
    class?: ProblemClass;
    notes: readonly string[];
  };
  "repair.given-up": { failures: readonly string[] };
  /** `all`: the part reserved for landing finished work is spent, too. */
  "budget.exhausted": { spent: Spent; all?: true };
};

type BaseQuestion = {
  readonly text: string;
  readonly default: OnRedBase;
  readonly until: number;
  /** The fix tasks that would be made. */
  readonly offer: readonly RepairOffer[];
};

/** What follows a red target: fix tasks, or the decision to give up. */
export type RepairOffer = Extract<Fact, { readonly type: "repair.planned" | "repair.given-up" }>;

/** A worker's turn ended with a call: the worker goes on when there is a response to it. */
type Suspensions = {
  "subtask.spawned": { into: NewTask };
  /** No subtask was begun: the worker goes on with the reason as its response. */
  "subtask.refused": { response: ToolResponse };
  "question.asked": { question: SubtaskQuestion };
};

type Nothing = Readonly<Record<never, never>>;

export type Fact =
  | { [T in keyof Facts]: Readonly<Facts[T]> & { readonly type: T } }[keyof Facts]
  | {
      [T in keyof Suspensions]: Suspended & Readonly<Suspensions[T]> & { readonly type: T };
    }[keyof Suspensions];

/** A worker that waits for the response to its call. */
type Suspended = {
  readonly task: TaskId;
  readonly attempt: number;
  /** The snapshot of its workspace, a commit. */
  readonly start: string;
  /** The job whose conversation goes on: as a rule that of this attempt. */
  readonly session: JobId;
  /** Concerns of the turn that ended, for the task's final handoff. */
  readonly notes?: readonly string[];
};

/** A new task. `rank` is its place in the queue: a smaller rank goes first, then the older task. */
export type NewTask = { readonly id: TaskId; readonly spec: TaskSpec; readonly rank: number };

export type PlanSaid = {
  readonly scratchpad: string;
  readonly addressed: readonly Addressed[];
  /** How many handoffs and steering messages this answer took into account. */
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
  /** What was wrong with the task. */
  readonly failure: string;
  readonly reason: string;
};

/** A fact in the log. `at`: when it was decided, in ms of the run's own time, which no setting of a clock changes. */
export type Event = Fact & { readonly at: number };
export type EventOf<T extends Event["type"]> = Extract<Event, { readonly type: T }>;

/** What each type of event changes in `S`. */
export type Reactions<S> = { readonly [T in Event["type"]]: (s: S, event: EventOf<T>) => void };

/** Calls the entry for the event's type; a type without an entry changes nothing. */
export const react = <S>(reactions: Partial<Reactions<S>>, s: S, event: Event): void =>
  (reactions[event.type] as ((s: S, event: Event) => void) | undefined)?.(s, event);

/** What a person says to a run. */
export type Command =
  | { readonly type: "open"; readonly request: RunRequest }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "steer"; readonly message: string }
  /** With a task: about its landing. Without: about the proposed plan, else about all landings that wait. */
  | { readonly type: "approve"; readonly task?: TaskId }
  | { readonly type: "decline"; readonly reason: string; readonly task?: TaskId }
  | { readonly type: "answer"; readonly question: string; readonly text: string }
  | { readonly type: "cancel"; readonly task?: TaskId; readonly reason?: string };

/** What jobs, machines and clocks report to a run. */
export type Report =
  | {
      readonly type: "ended";
      readonly job: JobId;
      readonly outcome: Outcome;
      readonly spent?: Spent;
      readonly gates?: readonly GateRecord[];
    }
  /** The process that ran the job is gone through no fault of the task: the engine was restarted. */
  | { readonly type: "interrupted"; readonly job: JobId; readonly spent?: Spent }
  /** A machine of the fleet has begun the job, or the gate run of a landing or a check. */
  | {
      readonly type: "taken";
      readonly job: JobId;
      readonly machine: string;
      readonly tries: number;
      /** How long ago the machine began it. */
      readonly agoMs: number;
    }
  /** The machine that had the job is gone, and no other machine has it yet. */
  | { readonly type: "returned"; readonly job: JobId }
  /** The state of a machine of the fleet, which chooses its name and labels itself. */
  | {
      readonly type: "machine";
      readonly machine: string;
      readonly state: MachineState;
      /** How many jobs the machine does at once. */
      readonly capacity: number;
      readonly labels: readonly string[];
    }
  /** A database session of that machine held a lock or a job for so long that it was ended. */
  | { readonly type: "held"; readonly machine: string; readonly heldMs: number }
  | { readonly type: "base-moved"; readonly commit: string }
  /** An account is limited, or its key refused. Jobs that noticed it keep running, and wait for it themselves. */
  | { readonly type: "account-refused"; readonly account: string; readonly failure: Failure }
  /** The account has answered since it was woken. Reported early, because the calling turn may take long. */
  | { readonly type: "account-worked"; readonly account: string }
  /** The job has given no sign of life for `ms`; 0: it has given one again. */
  | { readonly type: "quiet"; readonly job: JobId; readonly ms: number; readonly doing?: string }
  /** The job's workspace is ready, and preparing it took long. */
  | { readonly type: "prepared"; readonly job: JobId; readonly ms: number; readonly doing: string }
  /** The user's checkout differs from what it was before a command of this job ran. */
  | { readonly type: "checkout-changed"; readonly job: JobId; readonly places: readonly string[] }
  /** The machine's clock was set by `ms`. */
  | { readonly type: "clock-jumped"; readonly ms: number }
  /** A deadline that `due` named has come. */
  | { readonly type: "tick" };

/** Everything that reaches `decide`, with the time at which it was taken in. */
export type Input = (Command | Report) & { readonly at: number };
