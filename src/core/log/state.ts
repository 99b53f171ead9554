/** The state of a run, as the fold over its log. */
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
  /** The run was asked for an answer, and no task of it changes anything, so the target does not matter. */
  readonly onlyAnswers: boolean;
  /** How far the machine's clock is ahead of the run's own time, in ms, since it was last set. */
  readonly aheadMs: number;
  /** Earlier values of `aheadMs`, each once, the last first. */
  readonly wereAheadMs: readonly number[];
  readonly tasks: ReadonlyMap<TaskId, Task>;
  /** Which task waits for which, and which are ready, by lane and urgency. */
  readonly dag: Dag;
  readonly planners: ReadonlyMap<TaskId, Planner>;
  readonly running: ReadonlyMap<JobId, Running>;
  readonly count: Readonly<Record<JobKind, number>>;
  readonly turns: { readonly land: number; readonly check: number };
  /** The expired job of a slot, until another job replaces it: its answer still counts. */
  readonly late: ReadonlyMap<string, Job>;
  /**
   * Jobs that ended without reporting an answer or a cost. If one reports late, its cost is charged once and its answer
   * ignored.
   */
  readonly unanswered: ReadonlySet<JobId>;
  /** Leases by job id, waits before a retry by `retryKey`, waits of accounts by `accountKey`. */
  readonly deadlines: Deadlines;
  /** Files of tasks with a running work job, over all planners. */
  readonly atWork: ScopeTable;
  /** The tasks that wait for a task's files, and until when; and for each of them, the task that it waits for. */
  readonly waiting: ReadonlyMap<TaskId, readonly Waiter[]>;
  readonly heldBack: ReadonlyMap<TaskId, TaskId>;
  readonly landing: Landing;
  /** Candidates that are gated ahead of their turn, the first to land first. */
  readonly train: readonly TrainCandidate[];
  /** How often a task's candidate was red without a culprit, since the target moved or another task was refused. */
  readonly undecided: ReadonlyMap<TaskId, number>;
  /** When the candidate that is gated once more was last red; meaningless while landing is open. */
  readonly doubtSince: number;
  /** How many tasks landed and how many were guilty: they choose the size of a batch. */
  readonly odds: Odds;
  /** Every commit that the target is known to have pointed at. */
  readonly tips: ReadonlySet<string>;
  /** Landings that were removed from the target, with the tasks that they had landed. */
  readonly lost: ReadonlyMap<string, readonly TaskId[]>;
  readonly target: Target;
  readonly setup: Setup;
  readonly repair: Repair;
  /** The gate failed on the base before an agent was paid; undefined once it has passed. */
  readonly redBase: RedBase | undefined;
  readonly spent: Spending;
  /** Tokens and money used by each task of the root planner with everything below it. */
  readonly subtrees: ReadonlyMap<TaskId, Used>;
  /** Open tasks that were refused a landing: they were finished once, and still have to land. */
  readonly owed: ReadonlySet<TaskId>;
  /** Accounts that were ever rate limited or refused. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** The machines of the fleet, by name; empty without a fleet. */
  readonly machines: ReadonlyMap<string, Machine>;
  /** Tests that failed and then passed on the same tree, with how often in this run: 0 if only in earlier runs. */
  readonly flaky: ReadonlyMap<string, number>;
  /** Files that the gate leaves in its workspaces and has failed over; undefined if it never did. */
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
  /** Finished tasks that do not land before a person approves, with what they change of the gate. */
  readonly unapproved: ReadonlyMap<TaskId, readonly string[]>;
  /** Whether a plan was ever approved. */
  readonly approved: boolean;
  readonly paused: boolean;
  readonly cancelling: string | undefined;
  readonly closed: { readonly how: RunEnd; readonly left: readonly string[] } | undefined;
};

/** Which machine has a job since when, and how many machines have lost it before. */
type Taken = { readonly machine: string; readonly tries: number; readonly since: number };

export type Running = {
  readonly job: Job;
  /** When the job was started. */
  readonly since: number;
  readonly until: number;
  /** The job is offered to the machines of a fleet. */
  readonly isOffered?: true;
  readonly taken?: Taken;
  /** Until when its lease was extended, because all of its accounts are parked. */
  readonly parkedUntil?: number;
  /** How long it had given no sign of life at the last report of that. */
  readonly quietMs?: number;
  /** The slow step that it is in, if known. */
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
  /** Settled children that the planner has not been told of, oldest first. */
  readonly news: readonly TaskId[];
  readonly concerns: ReadonlyMap<string, Concern>;
  /** How the planner dealt with things that were not done: what took their place, or why they were given up. */
  readonly dealt: readonly Dealt[];
  /** How much of the news, and of the steering messages, its last turn was told. */
  readonly told: { readonly news: number; readonly steers: number };
  readonly replanAfter: number;
  /** Its turn is over and the next one is not due yet. */
  readonly idle: boolean;
  /** Files that its children hold or claim. */
  readonly held: ScopeTable;
  readonly notes: readonly string[];
  /** Files that the planner put off, and why; its last word on a file counts. */
  readonly deferred: readonly Deferral[];
};

/** `undone`: the child failed or was skipped, and the planner has not said how that is dealt with. */
export type Concern = {
  readonly id: string;
  readonly from: TaskId;
  readonly text: string;
  readonly kind: "said" | "undone";
  /** How many tasks its planner had given by then: none of these can have taken the place of what is undone. */
  readonly plannedBefore: number;
  /** The planner once closed it by its id alone, and was asked how it is dealt with. */
  readonly isSentBack?: true;
};

/** How a planner closed a concern about something undone: by a task that took its place, by a reason, or by both. */
type Dealt = { readonly concern: Concern; readonly by?: TaskId; readonly because?: string };

type Landing = {
  readonly phase: Phase;
  readonly errors: number;
  readonly retryAt: number;
  /** Why the landing is retried, if no task is to blame. */
  readonly problem?: Failure;
  /** The end of the gate's output when it was last red; kept while its candidate is being judged. */
  readonly detail?: string;
  /** Of that gate run: the installed dependencies were not those that the tree asks for. */
  readonly stale?: string;
};

/** Whether workspaces and the gate can be made ready here, and whether the gate proves anything. */
type Setup = {
  /** Why nothing starts before a person says `resume`. */
  readonly failure: Failure | undefined;
  /** The set-up has failed at least once in this run. */
  readonly hasFailed: boolean;
  /** A workspace was made ready at least once: a failure since then may pass by itself. */
  readonly hasWorked: boolean;
  /** Failures in a row, of all jobs. */
  readonly errors: number;
  /** When the wait for the first check of the base began. */
  readonly since: number;
  readonly probed: Probed | undefined;
  /** The gate could not be probed while the target was not green: it is probed again once the target is green. */
  readonly isProbedEarly: boolean;
  /** Probes in a row that could not be made, and when the last one ended. */
  readonly probeErrors: number;
  readonly probeEndedAt: number;
};

type Repair = {
  readonly pending: ReadonlySet<TaskId>;
  /** The failures that fixes of this round were made for. Each is repaired once a round, or a round might never end. */
  readonly tried: ReadonlySet<string>;
  /** The failures that fix tasks were made for since a change, not chance, last made the target green. */
  readonly known: ReadonlySet<string>;
  /** The class that the last round repaired. */
  readonly class: ProblemClass | undefined;
  readonly round: number;
  readonly failures: number;
  readonly givenUp: boolean;
};

export type Spending = Used & {
  /** `exhausted`: only what finished work needs to land still starts. `landingSpent`: not even that. */
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

/** Converts between the run's own time and the machine's clock. */
export const wallTime = ({ aheadMs }: Pick<RunState, "aheadMs">, at: number): number => at + aheadMs;
export const runTime = ({ aheadMs }: Pick<RunState, "aheadMs">, wall: number): number => wall - aheadMs;

/** Throws if there is no such task: every task in the log exists, because only `decide` writes the log. */
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

/** A person declined the plan that the task was in: only then does another task get its name. */
export const isDeclined = ({ planners }: RunState, { id, spec }: Task): boolean =>
  parentId(id) === ROOT && planners.get(ROOT)?.keys.get(spec.key) !== id;

/** A smaller order goes first: by rank, then by age. Ages stay below 2^32, so the sum is exact for ranks up to 2^20. */
export const orderOf = (rank: number, age: number) => rank * 2 ** 32 + age;
export const rankOf = (order: number) => Math.floor(order / 2 ** 32);

export function runningJobOf(state: RunState, task: Task): JobId | undefined {
  const { attempts, turns } = task.tries;
  const work = jobId({ kind: "work", task: task.id, attempt: attempts });
  if (state.running.has(work)) return work;
  const plan = jobId({ kind: "plan", task: task.id, turn: turns });
  return state.running.has(plan) ? plan : undefined;
}

/** On a red target only fixes land; once repair was given up, any task that makes nothing worse lands. */
export const landsOnRed = ({ repair }: RunState, task: Task) => repair.givenUp || isRepair(task);

/** The target's present tip is known to be red, so failures can be compared with it. */
export const isKnownRed = ({ target }: RunState) =>
  target.health === "red" && target.checkedTip === target.tip;

/** The concern's text for a task whose landing was taken back. */
export const takenBack = ({ id, spec }: Task, commit: string) =>
  `${id} (${spec.key}) landed as ${commit}, but was taken back: somebody moved the target`;

/** A plan waits for a person. A plan whose tasks were all cancelled does not. */
export const isProposed = (state: RunState): boolean =>
  state.proposed.some((id) => !isSettled(taskOf(state, id)));

export const pendingFixes = (state: RunState): readonly PendingFix[] =>
  [...state.repair.pending].map((id) => {
    const { repairs = [], scope } = taskOf(state, id).spec;
    return { repairs, scope };
  });

/** The target's present tip is known to be green. */
export const isVerified = ({ target }: RunState) =>
  target.health === "green" && target.checkedTip === target.tip && !target.unsure;
