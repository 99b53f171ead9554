/** Describes how a run stands now. Cheap to make even for thousands of tasks, because it is made for each draw. */
import type { Failure } from "../failure.ts";
import type { GateLeftovers, Probed } from "../gate.ts";
import { unjudgeable } from "../gate.ts";
import { type JobId, jobId } from "../job.ts";
import type { Event } from "../log/event.ts";
import { evolve } from "../log/evolve.ts";
import {
  emptyState,
  isDeclined,
  isProposed,
  isVerified,
  type Running,
  type RunState,
  type Spending,
  wallTime,
} from "../log/state.ts";
import { isUngated } from "../log/target-health.ts";
import type { JobKind } from "../rules/policy.ts";
import { type EndedAs, ROOT, type Task, type TaskId } from "../task.ts";
import { openSince } from "./job-spans.ts";
import { gatingIn, type JobPlace, placeOf, type TaskWord, wordOf } from "./rows.ts";
import { emptyStory, type Story, tell } from "./story.ts";
import { type TallyFigures, tallyFigures } from "./tally-view.ts";
import { type MachineView, machineViews } from "./view-machines.ts";
import {
  type AccountView,
  accountViews,
  type GateChangeView,
  gateChangeView,
  type QuestionView,
  questionView,
} from "./view-people.ts";
import { type Named, named, type UnreachableView, unreachableOf } from "./view-reasons.ts";

export type Seen = { readonly state: RunState; readonly story: Story };

export const nothingSeen = (): Seen => ({ state: emptyState(), story: emptyStory() });

/** For readers of a log; changes `seen` in place. */
export function see(seen: Seen, event: Event): Seen {
  evolve(seen.state, event);
  tell(seen.story, event);
  return seen;
}

/**
 * Everything in it is JSON. Times are in ms by the machine's clock as it is set now; callers subtract to get durations.
 */
export type Standing = {
  readonly run: string;
  readonly goal: string;
  readonly base: string;
  readonly is:
    | "working"
    | "proposed"
    | "paused"
    | "cancelling"
    | "done"
    | "incomplete"
    | "failed"
    | "cancelled";
  /** Of a run that is done and landed nothing: its tasks gave answers, or found their changes already made. */
  readonly ended?: EndedAs;
  readonly counts: Counts;
  readonly running: readonly RunningView[];
  /** Tasks that are ready to land or being landed, the next one first. */
  readonly queue: readonly Named[];
  readonly target: {
    readonly tip: string;
    readonly health: RunState["target"]["health"];
    readonly isVerified: boolean;
    /** The check found no gate commands to run. */
    readonly isUngated: boolean;
    /** All failures have names, so they can be compared with those of another branch. */
    readonly isJudgeable: boolean;
  };
  /** What tasks that landed, or are ready to, change of what the gate runs or of what steers agents. */
  readonly gateChanges: readonly GateChangeView[];
  /** `unreported`: attempts of workers that reported no cost, which is missing in the sum. */
  readonly spent: Spending & { readonly unreported: number };
  /** Why nothing starts: the gate or a workspace cannot be made ready here. `resume` tries again. */
  readonly setup?: Failure;
  /** Whether the gate looks at the tree that it runs in; absent before it was probed. */
  readonly probed?: Probed;
  /** The gate failed over files that its own runs leave in their workspace. */
  readonly leftovers?: GateLeftovers;
  /** Questions of workers that are still open. */
  readonly questions: readonly QuestionView[];
  /** Accounts that cannot be called now, and why. */
  readonly accounts: readonly AccountView[];
  /** The machines of the fleet; absent if none is known. */
  readonly machines?: readonly MachineView[];
  /** Tasks whose agent cannot be reached: they are retried. */
  readonly unreachable?: UnreachableView;
  readonly times: Pick<Story, "lastAt" | "idleMs" | "jobs"> & {
    readonly openedAt: number;
    readonly closedAt?: number;
  };
  readonly events: number;
  readonly tally: TallyFigures;
};

/** Counts all tasks except the goal, unless it is the only task or one worker has it. */
type Counts = {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cancelled: number;
  readonly landing: number;
  readonly running: number;
  readonly waiting: number;
};

export type RunningView = JobPlace & {
  readonly job: JobId;
  readonly kind: JobKind;
  readonly since: number;
  /** Of a worker the attempt, of all other jobs the turn. */
  readonly number: number;
  /** The task, or those that are being landed; empty for a check. */
  readonly tasks: readonly Named[];
  /** Of a candidate that is gated ahead of its turn: how many others it is built on. */
  readonly on?: number;
  /** Of a landing: the gate has passed, and the target is being moved. */
  readonly isMoving?: true;
  /** Of a check: the gate is probed. */
  readonly probe?: true;
  /** How long it had given no sign of life at the last report of that. */
  readonly quietMs?: number;
  /** The slow step that it is in, if known: a command of the gate, a model that does not answer. */
  readonly doing?: string;
  /** All of its accounts are parked until then, so no sign of life is expected before. */
  readonly parkedUntil?: number;
};

export function standingOf({ state, story }: Seen): Standing {
  const { run = "", goal = "", base = "" } = state.request ?? {};
  const tasks = [...state.tasks.values()];
  const gating = gatingIn(state);
  const { tip, health } = state.target;
  const { failure: setup, probed } = state.setup;
  const unreachable = unreachableOf(state, story);
  const machines = machineViews(state);
  return {
    run,
    goal,
    base,
    is:
      state.closed?.how ??
      (state.cancelling !== undefined ? "cancelling" : state.paused ? "paused" : openWord(state)),
    ...endedOf(state, tasks, story),
    counts: countsOf(state, tasks, gating),
    running: [...state.running.values()].map((running) => runningView(state, story, running)),
    queue: tasks
      .filter((task) => task.state.is === "landing" && !state.unapproved.has(task.id))
      .sort((a, b) => Number(gating.has(b.id)) - Number(gating.has(a.id)) || a.order - b.order)
      .map(({ id }) => named(state, id)),
    target: {
      ...{ tip, health, isVerified: isVerified(state), isUngated: isUngated(state) },
      isJudgeable: unjudgeable(state.target.report).length === 0,
    },
    gateChanges: tasks.flatMap((task) => gateChangeView(state, task) ?? []),
    spent: { ...state.spent, unreported: story.unreported },
    ...(setup && { setup }),
    ...(probed && { probed }),
    ...(state.leftovers && { leftovers: state.leftovers }),
    questions: (state.closed ? [] : [...state.questions.values()]).map((question) =>
      questionView(state, question),
    ),
    accounts: accountViews(state),
    ...(machines.length > 0 && { machines }),
    ...(unreachable && { unreachable }),
    times: timesOf(state, story),
    events: story.events,
    tally: tallyFigures(story, state, (story.closed?.at ?? story.lastAt) - state.openedAt - story.idleMs),
  };
}

function endedOf({ closed }: RunState, tasks: readonly Task[], { landings }: Story): Pick<Standing, "ended"> {
  if (closed?.how !== "done" || landings.length > 0) return {};
  const ends = tasks.flatMap(({ state }) => (state.is === "done" && state.ended) || []);
  return ends.includes("answered")
    ? { ended: "answered" }
    : ends.includes("unchanged")
      ? { ended: "unchanged" }
      : {};
}

const openWord = (state: RunState) => (isProposed(state) ? "proposed" : "working");

function timesOf(state: RunState, { lastAt, idleMs, jobs, closed }: Story): Standing["times"] {
  const by = (at: number) => wallTime(state, at);
  const times = { openedAt: by(state.openedAt), lastAt: by(lastAt), idleMs, jobs: structuredClone(jobs) };
  return closed ? { ...times, closedAt: by(closed.at) } : times;
}

function countsOf(state: RunState, tasks: readonly Task[], gating: ReadonlySet<TaskId>): Counts {
  const counts = {
    total: 0,
    done: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    landing: 0,
    running: 0,
    waiting: 0,
  };
  for (const task of tasks) {
    if ((task.id === ROOT && tasks.length > 1 && task.spec.shape === "plan") || isDeclined(state, task))
      continue;
    if (task.spec.spawn) continue; // Part of the task that asked for it.
    counts.total += 1;
    counts[COUNTED[wordOf(state, task, gating)]] += 1;
  }
  return counts;
}

const COUNTED = {
  done: "done",
  failed: "failed",
  skipped: "skipped",
  cancelled: "cancelled",
  proposed: "landing",
  landing: "landing",
  gating: "landing",
  planning: "running",
  working: "running",
  split: "running",
  delegating: "running",
  asking: "running",
  waiting: "waiting",
  ready: "waiting",
  parked: "waiting",
  pausing: "waiting",
} as const satisfies Readonly<Record<TaskWord, keyof Counts>>;

function runningView(state: RunState, story: Story, running: Running): RunningView {
  const { job, quietMs, doing, parkedUntil, taken } = running;
  const id = jobId(job);
  const since = taken?.since ?? openSince(story.spans, id) ?? state.openedAt;
  const number = job.kind === "work" ? job.attempt : job.turn;
  const tasks = job.kind === "check" ? [] : job.kind === "land" ? job.members.map((m) => m.task) : [job.task];
  // Once an account has woken, this time is past; the lease keeps its extension.
  const waits = parkedUntil !== undefined && parkedUntil > story.lastAt;
  return {
    job: id,
    kind: job.kind,
    since: wallTime(state, since),
    number,
    tasks: tasks.map((task) => named(state, task)),
    ...(job.kind === "land" && job.on && { on: job.on.length }),
    ...(job.kind === "land" && job.moves !== undefined && { isMoving: true as const }),
    ...(job.kind === "check" && job.probe && { probe: job.probe }),
    ...placeOf(state, running),
    ...(quietMs !== undefined && { quietMs }),
    ...(doing !== undefined && { doing }),
    ...(waits && { parkedUntil: wallTime(state, parkedUntil) }),
  };
}
