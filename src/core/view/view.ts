/** What is there to see of a run? Its state and its story as plain values, the same for every surface. */

import { type Failure, forPeople } from "../failure.ts";
import type { Probed } from "../gate.ts";
import { type JobId, jobId } from "../job.ts";
import type { Event, GivenUpView } from "../log/event.ts";
import { evolve } from "../log/evolve.ts";
import {
  emptyState,
  isDeclined,
  isProposed,
  isVerified,
  nameOf,
  type Running,
  type RunState,
  retryKey,
  runningJobOf,
  type Spending,
  taskOf,
  wallTime,
} from "../log/state.ts";
import { givenUpOf } from "../rules/given-up.ts";
import type { JobKind } from "../rules/policy.ts";
import { isSettled, parentId, ROOT, type Task, type TaskId } from "../task.ts";
import { emptyStory, type LandedStory, type RetriedAttempt, type Story, tell } from "./story.ts";
import { type TallyView, tallyView } from "./tally-view.ts";
import {
  type AccountView,
  accountViews,
  type GateChangeView,
  gateChangeView,
  type QuestionView,
  questionView,
} from "./view-people.ts";
import {
  type ConcernView,
  concernsOf,
  leftOf,
  type Named,
  named,
  type UndoneView,
  type UnreachableView,
  undoneOf,
  unreachableOf,
} from "./view-reasons.ts";

export type { GivenUpView, QuestionView, UndoneView };

/** Everything in it is JSON. Times are in ms, by the machine's clock as it is set now; who shows them subtracts. */
export type RunView = {
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
  readonly counts: Counts;
  readonly running: readonly RunningView[];
  /** What is ready to land, or being landed, the next one first. */
  readonly queue: readonly Named[];
  readonly target: {
    readonly tip: string;
    readonly health: RunState["target"]["health"];
    readonly isVerified: boolean;
    /** The look that said so had no commands to run. */
    readonly isUngated: boolean;
  };
  /** Of tasks that landed, or are ready to: what they change of what the gate runs, or of what steers agents. */
  readonly gateChanges: readonly GateChangeView[];
  readonly landings: readonly LandingView[];
  /** Tasks that are done and were split: they land through their parts. */
  readonly split: number;
  readonly setbacks: readonly FailedAttemptView[];
  /** Settled, but not done. */
  readonly undone: readonly UndoneView[];
  /** Not done, and no longer asked for: what its planner said about it. */
  readonly givenUp: readonly GivenUpView[];
  readonly concerns: readonly ConcernView[];
  /** Said when it closed, and not said of a task. */
  readonly left: readonly string[];
  readonly flaky: readonly string[];
  readonly spent: Spending;
  /** Why nothing is started: the gate or a workspace cannot be made ready here. Then `resume` looks again. */
  readonly setup?: Failure;
  /** Whether the gate looks at the tree that it runs in; nothing before that was asked. */
  readonly probed?: Probed;
  /** What workers ask, and nobody has answered. */
  readonly questions: readonly QuestionView[];
  /** Accounts that cannot be called now, and why. */
  readonly accounts: readonly AccountView[];
  /** The agent of some tasks cannot be reached: they are tried again. */
  readonly unreachable?: UnreachableView;
  readonly times: Pick<Story, "lastAt" | "idleMs" | "jobs"> & {
    readonly openedAt: number;
    readonly closedAt?: number;
  };
  readonly events: number;
  readonly tally: TallyView;
};

/** Of all tasks but the goal itself, unless that is the only one or one worker has it. */
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

export type RunningView = {
  readonly job: JobId;
  readonly kind: JobKind;
  readonly since: number;
  /** Of a worker the attempt, of everything else the turn. */
  readonly number: number;
  /** The task, or those that are being landed; nothing for a check. */
  readonly tasks: readonly Named[];
  /** Of a check: the gate is probed. */
  readonly probe?: true;
  /** How long it had given no sign of life when that was last said. */
  readonly quietMs?: number;
  /** What it is slow in, where that is known: a command of the gate, a model that does not answer. */
  readonly doing?: string;
  /** All of its accounts are parked: nothing is expected of it before. */
  readonly parkedUntil?: number;
};
type LandingView = Omit<LandedStory, "members"> & {
  readonly members: readonly (Named & { readonly attempt: number })[];
};
/** `end`: what became of the task since. */
export type FailedAttemptView = RetriedAttempt & { readonly name: string; readonly end: TaskWord };
/** What a task is about now, in one word. */
type TaskWord =
  | ("done" | "failed" | "skipped" | "cancelled")
  | ("planning" | "working" | "proposed" | "landing" | "gating")
  | ("split" | "delegating" | "asking" | "waiting" | "ready" | "parked" | "pausing");

export type Seen = { readonly state: RunState; readonly story: Story };

export const nothingSeen = (): Seen => ({ state: emptyState(), story: emptyStory() });

/** For who reads a log; changes `seen` in place. */
export function see(seen: Seen, event: Event): Seen {
  evolve(seen.state, event);
  tell(seen.story, event);
  return seen;
}

export function viewOf({ state, story }: Seen): RunView {
  const { run = "", goal = "", base = "" } = state.request ?? {};
  const tasks = [...state.tasks.values()];
  const landing = [...state.running.values()].flatMap(({ job }) => (job.kind === "land" ? job.members : []));
  const gating = new Set(landing.map(({ task }) => task));
  const { tip, health } = state.target;
  const { failure: setup, probed } = state.setup;
  const unreachable = unreachableOf(state, story);
  return {
    run,
    goal,
    base,
    is:
      state.closed?.how ??
      (state.cancelling !== undefined ? "cancelling" : state.paused ? "paused" : openWord(state)),
    counts: countsOf(state, tasks, gating),
    running: [...state.running.values()].map((running) => runningView(state, story, running)),
    queue: tasks
      .filter((task) => task.state.is === "landing" && !state.unapproved.has(task.id))
      .sort((a, b) => Number(gating.has(b.id)) - Number(gating.has(a.id)) || a.order - b.order)
      .map(({ id }) => named(state, id)),
    target: {
      tip,
      health,
      isVerified: isVerified(state),
      isUngated: isUngated(state),
    },
    gateChanges: tasks.flatMap((task) => gateChangeView(state, task)),
    landings: story.landings.map((landed) => ({
      ...landed,
      at: wallTime(state, landed.at),
      members: landed.members.map((member) => ({ ...member, name: nameOf(state, member.task) })),
    })),
    split: tasks.filter(
      ({ id, spec, state: { is } }) => is === "done" && id !== ROOT && spec.shape === "plan",
    ).length,
    setbacks: story.failedAttempts.map((failed) => ({
      ...failed,
      at: wallTime(state, failed.at),
      failure: forPeople(failed.failure),
      name: nameOf(state, failed.task),
      end: wordOf(state, taskOf(state, failed.task), gating),
    })),
    undone: undoneOf(
      state,
      tasks.filter((task) => !isDeclined(state, task) && !task.spec.spawn),
    ),
    givenUp: givenUpOf(state),
    concerns: concernsOf(state, story),
    left: leftOf(state),
    flaky: [...state.flaky].flatMap(([name, times]) => (times > 0 ? [name] : [])),
    spent: { ...state.spent },
    ...(setup && { setup }),
    ...(probed && { probed }),
    questions: (state.closed ? [] : [...state.questions.values()]).map((question) =>
      questionView(state, question),
    ),
    accounts: accountViews(state),
    ...(unreachable && { unreachable }),
    times: timesOf(state, story),
    events: story.events,
    tally: tallyView(story.tally, state, (story.closed?.at ?? story.lastAt) - state.openedAt - story.idleMs),
  };
}

const openWord = (state: RunState) => (isProposed(state) ? "proposed" : "working");

/** A look at the target has found no commands to run. */
export const isUngated = ({ target: { health, report } }: RunState): boolean =>
  health === "green" && report.commands.length === 0;

function timesOf(state: RunState, { lastAt, idleMs, jobs, closed }: Story): RunView["times"] {
  const by = (at: number) => wallTime(state, at);
  const times = { openedAt: by(state.openedAt), lastAt: by(lastAt), idleMs, jobs: structuredClone(jobs) };
  return closed ? { ...times, closedAt: by(closed.at) } : times;
}

/** `gating`: the tasks of the candidate whose gate is running. */
function wordOf(state: RunState, task: Task, gating: ReadonlySet<TaskId>): TaskWord {
  const { is } = task.state;
  if (state.unapproved.has(task.id)) return "proposed";
  if (is === "landing") return gating.has(task.id) && !isUngated(state) ? "gating" : "landing";
  if (is !== "open" && is !== "delegated" && is !== "waiting") return is;
  const job = runningJobOf(state, task);
  if (job !== undefined) return job.startsWith("plan:") ? "planning" : "working";
  if (task.state.is === "waiting") return "question" in task.state.for ? "asking" : "delegating";
  if (is === "delegated") return "split";
  if (state.heldBack.has(task.id)) return "parked";
  if (state.deadlines.get(retryKey(task.id)) !== undefined) return "pausing";
  return state.dag.status(task.id) === "waiting" ? "waiting" : "ready";
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
  const { job, quietMs, doing, parkedUntil } = running;
  const id = jobId(job);
  const since = story.since.get(id) ?? state.openedAt;
  const number = job.kind === "work" ? job.attempt : job.turn;
  const tasks = job.kind === "check" ? [] : job.kind === "land" ? job.members.map((m) => m.task) : [job.task];
  // It is past once the account has woken; the lease stays as long as it was made.
  const waits = parkedUntil !== undefined && parkedUntil > story.lastAt;
  return {
    job: id,
    kind: job.kind,
    since: wallTime(state, since),
    number,
    tasks: tasks.map((task) => named(state, task)),
    ...(job.kind === "check" && job.probe && { probe: job.probe }),
    ...(quietMs !== undefined && { quietMs }),
    ...(doing !== undefined && { doing }),
    ...(waits && { parkedUntil: wallTime(state, parkedUntil) }),
  };
}

/** What a person may call a task: its id, its whole name, or its own name where only one has it. */
export function findTask(state: RunState, said: string): TaskId | { readonly several: readonly Named[] } {
  if (state.tasks.has(said as TaskId)) return said as TaskId;
  const all = [...state.tasks.keys()].filter((id) => id !== ROOT).map((id) => named(state, id));
  const whole = all.filter(({ name }) => name === said);
  const found = whole.length > 0 ? whole : all.filter(({ name }) => name.endsWith(`/${said}`));
  return found.length === 1 ? found[0]!.task : { several: found };
}

/** Tasks as a tree, in the order in which they were made. */
export type TaskRow = Named & {
  readonly key: string;
  readonly depth: number;
  readonly word: TaskWord;
  readonly attempts: number;
  readonly isSettled: boolean;
  readonly description: string;
};

export function rowsOf(state: RunState): readonly TaskRow[] {
  const gating = gatingIn(state);
  return treeOf(state).map(({ id, depth }) => rowOf(state, id, { depth, gating }));
}

/** The tasks whose gate is running. */
export const gatingIn = (state: RunState): ReadonlySet<TaskId> =>
  new Set(
    [...state.running.values()].flatMap(({ job }) =>
      job.kind === "land" ? job.members.map(({ task }) => task) : [],
    ),
  );

export function rowOf(
  state: RunState,
  id: TaskId,
  { depth, gating }: { readonly depth: number; readonly gating: ReadonlySet<TaskId> },
): TaskRow {
  const task = taskOf(state, id);
  return {
    ...named(state, id),
    key: id === ROOT ? "the goal" : task.spec.key,
    depth,
    word: wordOf(state, task, gating),
    attempts: task.tries.attempts,
    isSettled: isSettled(task),
    description: task.spec.description,
  };
}

/** Every task after its parent, siblings in the order in which they were made. */
export function treeOf(state: RunState): readonly { readonly id: TaskId; readonly depth: number }[] {
  const children = Map.groupBy(
    [...state.tasks.keys()].filter((id) => id !== ROOT),
    (id) => parentId(id)!,
  );
  const tree: { readonly id: TaskId; readonly depth: number }[] = [];
  // A stack, not recursion: trees are as deep as planners make them.
  const stack = state.tasks.has(ROOT) ? [{ id: ROOT, depth: 0 }] : [];
  for (let next = stack.pop(); next; next = stack.pop()) {
    tree.push(next);
    for (const child of (children.get(next.id) ?? []).toReversed())
      stack.push({ id: child, depth: next.depth + 1 });
  }
  return tree;
}
