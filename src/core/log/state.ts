/** What is true now? The run as a fold over its log; who may look, looks at this. */
import { Dag } from "../../graph/dag.ts";
import type { Deferral } from "../answers/plan-answer.ts";
import type { Failure } from "../failure.ts";
import type { GateLeftovers, Probed } from "../gate.ts";
import { type Job, type JobId, jobId, type TrainCandidate } from "../job.ts";
import { NO_ODDS, type Odds } from "../rules/batch-size.ts";
import { OPEN, type Phase } from "../rules/landing.ts";
import type { JobKind } from "../rules/policy.ts";
import type { PendingFix, ProblemClass } from "../rules/repair.ts";
import type { SubtaskQuestion } from "../subtask.ts";
import { isRepair, isSettled, parentId, ROOT, type Task, type TaskId } from "../task.ts";
import { NOTHING_USED, type Used } from "../used.ts";
import { Deadlines } from "./deadlines.ts";
import type { MachineState, RunEnd, RunRequest } from "./event.ts";
import type { RedBase } from "./red-base-state.ts";
import { ScopeTable } from "./scope-table.ts";
import { type Target, unknownTarget } from "./target-state.ts";

export type RunState = {
  readonly request: RunRequest | undefined;
  readonly openedAt: number;
  /** The run was asked for an answer, and no task of it is to change anything: the target is nobody's concern. */
  readonly onlyAnswers: boolean;
  /** How much more than the run's own time the machine's clock shows, since it was set. */
  readonly aheadMs: number;
  /** The same as it was before it was set, each way once, the last first. */
  readonly wereAheadMs: readonly number[];
  readonly tasks: ReadonlyMap<TaskId, Task>;
  /** Which task waits for which, and what is ready, by lane and urgency. */
  readonly dag: Dag;
  readonly planners: ReadonlyMap<TaskId, Planner>;
  readonly running: ReadonlyMap<JobId, Running>;
  readonly count: Readonly<Record<JobKind, number>>;
  readonly turns: { readonly land: number; readonly check: number };
  /** The expired job of a slot, until something replaces it: its answer still counts. */
  readonly late: ReadonlyMap<string, Job>;
  /** Jobs that ended without an answer or a cost: one that still comes is paid for, once, and dropped. */
  readonly unanswered: ReadonlySet<JobId>;
  /** Leases by job id, waits before a retry by `retryKey`, and of accounts by `accountKey`. */
  readonly deadlines: Deadlines;
  /** Files of tasks with a running work job, over all planners. */
  readonly atWork: ScopeTable;
  /** Who waits for a task's files, and until when; and whom each of them waits for. */
  readonly waiting: ReadonlyMap<TaskId, readonly Waiter[]>;
  readonly heldBack: ReadonlyMap<TaskId, TaskId>;
  readonly landing: Landing;
  /** Candidates that are gated ahead of their turn, the first to land first. */
  readonly train: readonly TrainCandidate[];
  /** How often the candidate of a task was red without a culprit since the target moved, or another was refused. */
  readonly undecided: ReadonlyMap<TaskId, number>;
  /** When the candidate that is gated once more was last red; meaningless while landing is open. */
  readonly doubtSince: number;
  /** How often a task turned out to be bad: the size of a batch follows from it. */
  readonly odds: Odds;
  /** Every commit that the target is known to have pointed at. */
  readonly tips: ReadonlySet<string>;
  /** Landings that were removed from the target, with the tasks that they had done. */
  readonly lost: ReadonlyMap<string, readonly TaskId[]>;
  readonly target: Target;
  readonly setup: Setup;
  readonly repair: Repair;
  /** The gate failed on the base before an agent was paid; undefined once it has passed. */
  readonly redBase: RedBase | undefined;
  readonly spent: Spending;
  /** The same for each task of the root planner with everything below it. */
  readonly subtrees: ReadonlyMap<TaskId, Used>;
  /** Open tasks that were refused a landing: finished once, and still to land. */
  readonly owed: ReadonlySet<TaskId>;
  /** Accounts that were ever in trouble. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** The machines of the fleet, by name; none on one machine. */
  readonly machines: ReadonlyMap<string, Machine>;
  /** Tests that failed and then passed on the same tree, and how often in this run: 0 if only in earlier ones. */
  readonly flaky: ReadonlyMap<string, number>;
  /** What the gate leaves in its workspaces and has failed over; undefined if it never did. */
  readonly leftovers: (GateLeftovers & { readonly more: number; readonly times: number }) | undefined;
  readonly concernCount: number;
  /** Planners below the root that will not be asked again and have nothing active: they can settle. */
  readonly toSettle: ReadonlySet<TaskId>;
  /** Tasks that are not settled, the root not counted. */
  readonly unsettled: number;
  readonly steers: readonly string[];
  /** Open questions of workers, oldest first, and how many there ever were. */
  readonly questions: ReadonlyMap<string, SubtaskQuestion>;
  readonly questionCount: number;
  /** The tasks of a plan that waits for approval. */
  readonly proposed: readonly TaskId[];
  /** Finished tasks that do not land before a person has approved of it, and what they change of the gate. */
  readonly unapproved: ReadonlyMap<TaskId, readonly string[]>;
  /** Whether a plan was ever approved of. */
  readonly approved: boolean;
  readonly paused: boolean;
  readonly cancelling: string | undefined;
  readonly closed: { readonly how: RunEnd; readonly left: readonly string[] } | undefined;
};

/** Which machine has a job since when, and how many have lost it before. */
type Taken = { readonly machine: string; readonly tries: number; readonly since: number };

export type Running = {
  readonly job: Job;
  /** When it was started. */
  readonly since: number;
  readonly until: number;
  /** It is offered to the machines of a fleet. */
  readonly isOffered?: true;
  readonly taken?: Taken;
  /** How long its lease was extended for, because all of its accounts are parked. */
  readonly parkedUntil?: number;
  /** How long it had given no sign of life when that was last said. */
  readonly quietMs?: number;
  /** What it is slow in, where that is known. */
  readonly doing?: string;
};

/** `capacity`: how many jobs it does at once. */
export type Machine = {
  readonly state: Exclude<MachineState, "gone">;
  readonly capacity: number;
  readonly labels: readonly string[];
};

/** `times`: how often in a row it was rate limited. `since`: from when no job was started on it. */
export type Account =
  | { readonly is: "free"; readonly times: number }
  | {
      readonly is: "parked";
      readonly times: number;
      readonly since: number;
      readonly until: number;
      readonly failure: Failure;
    }
  | { readonly is: "refused"; readonly since: number; readonly failure: Failure };
export type Waiter = { readonly task: TaskId; readonly until: "settled" | "idle" };

/** What is kept for a task that has children. */
export type Planner = {
  readonly children: number;
  /** The children that are not settled, oldest first. */
  readonly active: ReadonlySet<TaskId>;
  readonly keys: ReadonlyMap<string, TaskId>;
  /** Settled children that it has not been told of, oldest first. */
  readonly news: readonly TaskId[];
  readonly concerns: ReadonlyMap<string, Concern>;
  /** What it said about things that were not done: what took their place, or why they were given up. */
  readonly dealt: readonly Dealt[];
  /** How much of the news, and of the steering messages, its last turn was told. */
  readonly told: { readonly news: number; readonly steers: number };
  readonly replanAfter: number;
  /** Its turn is over and the next one is not due yet. */
  readonly idle: boolean;
  /** Files that its children hold or wait for. */
  readonly held: ScopeTable;
  readonly notes: readonly string[];
  /** What it put off, and why; its last word on a file counts. */
  readonly deferred: readonly Deferral[];
};

/** `undone`: the child failed or was skipped, and the planner has not said that this is dealt with. */
export type Concern = {
  readonly id: string;
  readonly from: TaskId;
  readonly text: string;
  readonly kind: "said" | "undone";
  /** How many tasks its planner had given by then: none of these can have taken the place of what is undone. */
  readonly plannedBefore: number;
  /** Its id alone was given for it once, and the planner was asked what became of it. */
  readonly isSentBack?: true;
};

/** How a planner closed a concern about something undone: by a task that took its place, by a reason, or by both. */
type Dealt = { readonly concern: Concern; readonly by?: TaskId; readonly because?: string };

type Landing = {
  readonly phase: Phase;
  readonly errors: number;
  readonly retryAt: number;
  /** Why it is retried, where no task is to blame. */
  readonly problem?: Failure;
  /** The end of what the gate wrote when it was last red; kept while its candidate is being judged. */
  readonly detail?: string;
  /** Of that run: what was installed was not what its tree asks for. */
  readonly stale?: string;
};

/** Can workspaces and the gate be made ready here, and does the gate prove something? */
type Setup = {
  /** Why nothing is started before a person says `resume`. */
  readonly failure: Failure | undefined;
  /** It has failed at least once in this run. */
  readonly hasFailed: boolean;
  /** The gate or a worker had a place that was ready: a failure since then may pass by itself. */
  readonly hasWorked: boolean;
  /** Failures in a row, of all jobs. */
  readonly errors: number;
  /** From when the first look at the base is waited for. */
  readonly since: number;
  readonly probed: Probed | undefined;
  /** It could not be probed, on a target that was not green: then it is asked again, once the target is. */
  readonly isProbedEarly: boolean;
  /** Probes in a row that could not be made, and when the last one ended. */
  readonly probeErrors: number;
  readonly probeEndedAt: number;
};

type Repair = {
  readonly pending: ReadonlySet<TaskId>;
  /** The failures that fixes of this round were made for: a round in which each could come again would never end. */
  readonly tried: ReadonlySet<string>;
  /** What fix tasks were made for since the target last became green by a change, not by chance. */
  readonly known: ReadonlySet<string>;
  /** What the last round repaired. */
  readonly class: ProblemClass | undefined;
  readonly round: number;
  readonly failures: number;
  readonly givenUp: boolean;
};

export type Spending = Used & {
  /** Nothing more is started on it, but for what finished work needs to land; `landingSpent`: nor for that. */
  readonly exhausted: boolean;
  readonly landingSpent: boolean;
};

export const emptyState = (): RunState => ({
  request: undefined,
  openedAt: 0,
  onlyAnswers: false,
  aheadMs: 0,
  wereAheadMs: [],
  tasks: new Map(),
  dag: new Dag(),
  planners: new Map(),
  running: new Map(),
  count: { plan: 0, work: 0, land: 0, check: 0 },
  turns: { land: 0, check: 0 },
  late: new Map(),
  unanswered: new Set(),
  deadlines: new Deadlines(),
  atWork: new ScopeTable(),
  waiting: new Map(),
  heldBack: new Map(),
  landing: { phase: OPEN, errors: 0, retryAt: 0 },
  train: [],
  undecided: new Map(),
  doubtSince: 0,
  odds: NO_ODDS,
  tips: new Set(),
  lost: new Map(),
  target: unknownTarget(),
  setup: {
    failure: undefined,
    hasFailed: false,
    hasWorked: false,
    errors: 0,
    since: 0,
    probed: undefined,
    isProbedEarly: false,
    probeErrors: 0,
    probeEndedAt: 0,
  },
  repair: {
    pending: new Set(),
    tried: new Set(),
    known: new Set(),
    class: undefined,
    round: 0,
    failures: 0,
    givenUp: false,
  },
  redBase: undefined,
  spent: { ...NOTHING_USED, exhausted: false, landingSpent: false },
  subtrees: new Map(),
  owed: new Set(),
  accounts: new Map(),
  machines: new Map(),
  flaky: new Map(),
  leftovers: undefined,
  concernCount: 0,
  toSettle: new Set(),
  unsettled: 0,
  steers: [],
  questions: new Map(),
  questionCount: 0,
  proposed: [],
  unapproved: new Map(),
  approved: false,
  paused: false,
  cancelling: undefined,
  closed: undefined,
});

/** The lanes of the DAG: what a ready task is ready for. */
export const LANE = { plan: 0, work: 1, land: 2 } as const;

export { accountKey, accountOfKey, retryKey, retryTask } from "./deadline-keys.ts";

/** What the machine's clock shows at a time of the run; and the other way round. */
export const wallTime = ({ aheadMs }: Pick<RunState, "aheadMs">, at: number): number => at + aheadMs;
export const runTime = ({ aheadMs }: Pick<RunState, "aheadMs">, wall: number): number => wall - aheadMs;

/** A task that the log speaks of exists: the log is written by `decide` alone. */
export function taskOf(state: RunState, id: TaskId): Task {
  const task = state.tasks.get(id);
  if (!task) throw new Error(`there is no task ${id}`);
  return task;
}

/** "parser/lexer": the planners' own names, from the top. */
export function nameOf(state: RunState, id: TaskId): string {
  if (id === ROOT) return "the goal";
  const above = parentId(id)!;
  const { key } = taskOf(state, id).spec;
  return above === ROOT ? key : `${nameOf(state, above)}/${key}`;
}

/** A person declined the plan that it was in: only then is a task's name taken from it. */
export const isDeclined = ({ planners }: RunState, { id, spec }: Task): boolean =>
  parentId(id) === ROOT && planners.get(ROOT)?.keys.get(spec.key) !== id;

/** Smaller goes first: rank, then age. Ages stay below 2^32, so the sum is exact for ranks up to 2^20. */
export const orderOf = (rank: number, age: number) => rank * 2 ** 32 + age;
export const rankOf = (order: number) => Math.floor(order / 2 ** 32);

export function runningJobOf(state: RunState, task: Task): JobId | undefined {
  const { attempts, turns } = task.tries;
  const work = jobId({ kind: "work", task: task.id, attempt: attempts });
  if (state.running.has(work)) return work;
  const plan = jobId({ kind: "plan", task: task.id, turn: turns });
  return state.running.has(plan) ? plan : undefined;
}

/** On a red target only fixes land; once repair was given up, anyone who makes nothing worse. */
export const landsOnRed = ({ repair }: RunState, task: Task) => repair.givenUp || isRepair(task);

/** The target is known to be red as it stands, so that what it fails can be compared with. */
export const isKnownRed = ({ target }: RunState) =>
  target.health === "red" && target.checkedTip === target.tip;

/** What is left to do of it, in words. */
export const takenBack = ({ id, spec }: Task, commit: string) =>
  `${id} (${spec.key}) landed as ${commit}, but was taken back: somebody moved the target`;

/** A plan waits for a person. One whose tasks were all called off does not. */
export const isProposed = (state: RunState): boolean =>
  state.proposed.some((id) => !isSettled(taskOf(state, id)));

export const pendingFixes = (state: RunState): readonly PendingFix[] =>
  [...state.repair.pending].map((id) => {
    const { repairs = [], scope } = taskOf(state, id).spec;
    return { repairs, scope };
  });

/** The target is known to be green as it stands. */
export const isVerified = ({ target }: RunState) =>
  target.health === "green" && target.checkedTip === target.tip && !target.unsure;
