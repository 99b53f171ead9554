/** What can the log say? Facts, in the past tense; and what can be said to a run. */

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
  /** Tests that earlier runs in this repository saw fail and pass on one tree. */
  readonly flaky?: readonly string[];
  /** Left out: a change. "report": the goal asks for an answer, and lands nothing unless a planner says otherwise. */
  readonly delivers?: Delivers;
};

export type RunEnd = "done" | "incomplete" | "failed" | "cancelled";

/** `answered-late` still counts, `dropped` came too late. The last three ended without an answer. */
export type JobEnd = "answered" | "answered-late" | "dropped" | "expired" | "interrupted" | "aborted";

/** What a failed attempt is counted as (see `Tries`). */
export type Charge = "failed" | "refused" | "lost" | "unreachable" | "nothing";

/** `silent`: it has given no sign of life for a while. `draining`: it takes no more jobs. `gone`: it has left. */
export type MachineState = "ready" | "draining" | "silent" | "gone";

type Facts = {
  "run.opened": { request: RunRequest; spec: TaskSpec };
  "run.paused": Nothing;
  "run.resumed": Nothing;
  "run.steered": { message: string };
  /** Nothing new starts; what is landing finishes; then it closes as cancelled. */
  "run.cancel-requested": { reason: string };
  "run.closed": {
    how: RunEnd;
    left: readonly string[];
    /** What planners gave up, for programs; `left` says it in words. */
    givenUp?: readonly GivenUpView[];
  };
  "command.refused": { command: string; reason: string };
  /** `isOffered`: it waits until a machine of the fleet takes it. */
  "job.started": { job: Job; until: number; isOffered?: true };
  /**
   * A machine of the fleet has begun it, or the gate run in it, at `since`: its lease counts from there. `tries`: how
   * many machines have lost it before.
   */
  "job.taken": { job: JobId; machine: string; tries: number; since: number; until: number };
  /** Its machine is gone: it waits for another, as it did when it was offered. */
  "job.returned": { job: JobId; until: number };
  /**
   * `outcome`: of a job whose end was heard or whose time was up; none of one that was called off. `gates`: of a landing
   * or a check, the runs of the gate; unknown in runs of an older Skein.
   */
  "job.ended": {
    job: JobId;
    how: JobEnd;
    outcome?: JobOutcome;
    spent?: Spent;
    gates?: readonly GateRecord[];
  };
  /** All of its accounts are parked until `parkedUntil`: its lease, now `until`, does not run out meanwhile. */
  "job.extended": { job: JobId; until: number; parkedUntil: number };
  /** How a machine of the fleet is now; at first, that it is there. */
  "machine.changed": { machine: string; state: MachineState; capacity: number; labels: readonly string[] };
  /** A session of that machine held a lock or a job in the fleet's database for so long, and was ended. */
  "machine.cut-off": { machine: string; heldMs: number };
  /** The machine's clock was set by so much, forward or back. `at` goes on as before; what others named by it moves. */
  "clock.jumped": { ms: number };
  /**
   * No sign of life for so long; 0: it has given one again. With `doing`, for so long in this, which is slow: a command
   * of the gate, a model that does not answer. For people; nothing follows from it.
   */
  "job.quiet": { job: JobId; ms: number; doing?: string };
  /** Making its workspace ready took so long, before its agent or its gate began: copies, a set-up. In `ms` of a job. */
  "job.prepared": { job: JobId; ms: number; doing: string };
  /** While a job's command ran, the user's checkout changed. For people; nothing follows. */
  "checkout.changed": { job: JobId; places: readonly string[] };
  /** It is rate limited until `until`: no job that needs it starts. */
  "account.parked": { account: string; until: number; failure: Failure };
  /** Its key was refused: no job that needs it starts before a person says `resume`. */
  "account.refused": { account: string; failure: Failure };
  "account.woken": { account: string };
  /** A job has succeeded on it since it was woken: its failures in a row are forgotten. */
  "account.worked": { account: string };
  "plan.accepted": {
    task: TaskId;
    into: readonly NewTask[];
    replanAfter: number;
    said: PlanSaid;
    /** What was removed, dropped, serialised or left uncovered: the planner is told. */
    notes: readonly string[];
  };
  /** They do not start before a person approves. */
  "plan.proposed": { tasks: readonly TaskId[] };
  "plan.approved": Nothing;
  /** Its tasks are cancelled, and the planner is told why. */
  "plan.declined": { reason: string };
  "plan.rejected": {
    task: TaskId;
    failure: Failure;
    reasons: readonly string[];
    retryAt: number;
    charge: "error" | "unreachable" | "nothing";
    /** Concerns about something undone that were closed by their id alone: that is asked about once. */
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
  /** Asked in vain: once more at `retryAt`, or further up, maybe in the words of the task that passes it on. */
  "question.passed": {
    question: string;
    to: SubtaskQuestion["to"];
    text?: string;
    /** Of that task's turn, which is part of its conversation. */
    attempt?: number;
    retryAt?: number;
    /** It was lost through no fault of that task's: it does not count as a try. */
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
    /** On a red target: what was compared with it, a line for each command. */
    compared?: readonly string[];
    flaky: readonly string[];
    /** What a person may want to look at, of the landing as a whole: that fewer tests ran than on the target. */
    flags?: readonly string[];
    /** The tests that its gate ran, where runners tell their number. */
    ran?: readonly TestsRan[];
    /** The land job that gated it, where others have built on it. */
    turn?: number;
  };
  /** Gated ahead of its turn: it lands when what it was built on has landed, or is discarded. */
  "candidate.passed": { turn: number; passed: PassedCandidate };
  /** It says nothing about its members before what it was built on has landed. */
  "candidate.failed": { turn: number; failed: FailedCandidate };
  /** It changes what the gate, CI or hooks run, or what steers agents: it does not land before a person says so. */
  "landing.proposed": { task: TaskId; flags: readonly string[] };
  "landing.approved": { task: TaskId };
  /** It is attempted again, or has failed, as the next fact says. */
  "landing.declined": { task: TaskId; reason: string };
  /** The target was moved back to before it. Found again, it is told as `batch.landed` once more. */
  "landing.lost": { commit: string; members: readonly Member[] };
  "landing.turned": {
    phase: Phase;
    requeue: readonly TaskId[];
    errors: number;
    retryAt: number;
    /** What the gate wrote when it was last red, for those who may be refused for it. */
    detail?: string;
    /** What was installed for that run was not what its tree asks for: what differs, and what to do. */
    stale?: string;
    /** Why the last landing failed, if it was for reasons of the repository or the machine. */
    failure?: Failure;
    /** Candidates that were gated ahead of their turn and are out of the train: discarded, or judged by now. */
    drop?: readonly number[];
    /** They were discarded: what they were built on did not land. */
    isDiscard?: true;
    /** Of `requeue`: their candidate was red, and neither they nor the target were found to be at fault. */
    undecided?: readonly TaskId[];
  };
  /**
   * `leftovers`: it failed in a used workspace, and is looked at again in a fresh one. `look`: what fails, of a base that fails before an agent was paid. `passedAt`: the gate was not run, since it
   * passed on the same tree at that moment, by the machine's clock.
   */
  "target.checked": {
    tip: string;
    report: GateReport;
    leftovers?: GateLeftovers;
    look?: BaseLook;
    passedAt?: number;
  };
  /**
   * The gate fails on the base, twice, and no agent was paid yet. `ask`: nothing starts before a person has said what
   * happens, or the question's time is up.
   */
  "base.failed": { look: BaseLook; choice: "ask" | OnRedBase; asked?: BaseQuestion };
  "base.answered": { choice: OnRedBase; by: "person" | "default" };
  /** The gate failed so in a used workspace, and passed on the same tree in a fresh one. For people; nothing follows. */
  "leftovers.found": { failures: readonly string[]; leftovers: GateLeftovers };
  "target.unchecked": { failure: Failure };
  /** The gate or a workspace cannot be made ready here: nothing is started before a person says `resume`. */
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
    /** The class that it repairs; unknown in runs of an older Skein. */
    class?: ProblemClass;
    notes: readonly string[];
  };
  "repair.given-up": { failures: readonly string[] };
  /** `all`: also the part that is kept for finished work to land. */
  "budget.exhausted": { spent: Spent; all?: true };
};

type BaseQuestion = {
  readonly text: string;
  readonly default: OnRedBase;
  readonly until: number;
  /** The fix tasks that would be made. */
  readonly offer: readonly RepairOffer[];
};

/** What is done about a red target: fix tasks, or nothing more. */
export type RepairOffer = Extract<Fact, { readonly type: "repair.planned" | "repair.given-up" }>;

/** A worker's turn ended with a call: it goes on when there is a response to it. */
type Suspensions = {
  "subtask.spawned": { into: NewTask };
  /** No subtask was begun: the worker goes on with the reason. */
  "subtask.refused": { response: ToolResponse };
  "question.asked": { question: SubtaskQuestion };
};

type Nothing = Readonly<Record<never, never>>;

export type Fact =
  | { [T in keyof Facts]: Readonly<Facts[T]> & { readonly type: T } }[keyof Facts]
  | {
      [T in keyof Suspensions]: Suspended & Readonly<Suspensions[T]> & { readonly type: T };
    }[keyof Suspensions];

/** A worker that waits for what it called for. */
type Suspended = {
  readonly task: TaskId;
  readonly attempt: number;
  /** Its workspace, as it was left. */
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

/** What each type of event does to `S`. */
export type Reactions<S> = { readonly [T in Event["type"]]: (s: S, event: EventOf<T>) => void };

/** A type that is not in the table does nothing. */
export const react = <S>(reactions: Partial<Reactions<S>>, s: S, event: Event): void =>
  (reactions[event.type] as ((s: S, event: Event) => void) | undefined)?.(s, event);

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
  | {
      readonly type: "ended";
      readonly job: JobId;
      readonly outcome: Outcome;
      readonly spent?: Spent;
      readonly gates?: readonly GateRecord[];
    }
  /** Its executor is gone, through no fault of the task: the engine was restarted. */
  | { readonly type: "interrupted"; readonly job: JobId; readonly spent?: Spent }
  /** A machine of the fleet has begun it; of a landing or a check, the gate run inside it. */
  | {
      readonly type: "taken";
      readonly job: JobId;
      readonly machine: string;
      readonly tries: number;
      /** How long ago that was. */
      readonly agoMs: number;
    }
  /** The machine that had it is gone, and no other has it yet. */
  | { readonly type: "returned"; readonly job: JobId }
  /** How a machine of the fleet is now: its name and labels are its own words. */
  | {
      readonly type: "machine";
      readonly machine: string;
      readonly state: MachineState;
      /** How many jobs it does at once. */
      readonly capacity: number;
      readonly labels: readonly string[];
    }
  /** A session of that machine held something in the fleet's database for so long that it was ended. */
  | { readonly type: "held"; readonly machine: string; readonly heldMs: number }
  | { readonly type: "base-moved"; readonly commit: string }
  /** An account's quota is used up, or its key refused; the jobs that found out go on, and wait for it themselves. */
  | { readonly type: "account-refused"; readonly account: string; readonly failure: Failure }
  /** It has answered a call since it was woken: the turn that made it may go on for long. */
  | { readonly type: "account-worked"; readonly account: string }
  /** A job has given no sign of life for so long; 0: it has again. */
  | { readonly type: "quiet"; readonly job: JobId; readonly ms: number; readonly doing?: string }
  /** Its workspace is ready, and that took long. */
  | { readonly type: "prepared"; readonly job: JobId; readonly ms: number; readonly doing: string }
  /** The user's checkout is not as it was before a command of this job ran. */
  | { readonly type: "checkout-changed"; readonly job: JobId; readonly places: readonly string[] }
  /** The machine's clock shows so much more, or less, than was known. */
  | { readonly type: "clock-jumped"; readonly ms: number }
  /** A deadline that `due` named has come. */
  | { readonly type: "tick" };

/** Everything that reaches `decide`, with the time at which it was taken up. */
export type Input = (Command | Report) & { readonly at: number };
