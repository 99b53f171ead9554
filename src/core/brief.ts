/** What may a job know? Everything it needs is in its brief, so that it can run here or on another machine. */

import { branchOf, type LandBrief, landBrief, targetBranchOf } from "./brief-land.ts";
import type { GateReport } from "./gate.ts";
import { cut, type Handoff } from "./handoff.ts";
import type { Job } from "./job.ts";
import type { Concern, RunState } from "./log/state.ts";
import { taskOf } from "./log/state.ts";
import { chainOf } from "./rules/chain.ts";
import type { Policy } from "./rules/policy.ts";
import { responseTo } from "./rules/subtask-response.ts";
import type { GoOn, SubtaskResult, ToolResponse } from "./subtask.ts";
import {
  depth,
  isSettled,
  type PastAttempt,
  parentId,
  ROOT,
  type Task,
  type TaskId,
  type TaskSpec,
} from "./task.ts";

export type { BuiltOn, LandBrief, LandMember } from "./brief-land.ts";
export { targetBranchOf } from "./brief-land.ts";

export type Brief = PlanBrief | WorkBrief | LandBrief | CheckBrief;

/** The commands that a change must pass as merged. `ms`: the longest that they took on the target; absent if not run yet. */
export type GateTold = { readonly commands: readonly string[]; readonly ms?: number };

/** How many tasks can be at work at once, and how many of these workers have nothing to do now. */
export type WorkersTold = { readonly atOnce: number; readonly free: number };

export type PlanBrief = {
  readonly kind: "plan";
  readonly run: string;
  readonly goal: string;
  readonly task: TaskId;
  readonly spec: TaskSpec;
  readonly depth: number;
  readonly turn: number;
  /** The target as it is now: what the planner may explore. */
  readonly tip: string;
  /** Its one conversation, reloaded each turn; where it is gone, what follows is enough to go on. */
  readonly transcript: string;
  readonly scratchpad: string;
  readonly first: boolean;
  readonly maxTasks: number;
  /** Why its last answer was refused, and what was changed in the one before. */
  readonly rejected: readonly string[];
  readonly notes: readonly string[];
  readonly news: readonly News[];
  readonly active: readonly { readonly id: TaskId; readonly key: string; readonly description: string }[];
  readonly concerns: readonly Omit<Concern, "plannedBefore">[];
  readonly steers: readonly string[];
  /** Absent before the gate has run. */
  readonly gate?: GateTold;
  readonly workers?: WorkersTold;
  /** What machines of the fleet have: a task may ask for it (`needs`). Absent if there is nothing to ask for. */
  readonly labels?: readonly string[];
  /** Asked for an execution plan of the whole goal, before any run; `rejected` is why the last one was refused. */
  readonly request?: PlanRequest;
};

/** What the maker of an execution plan must know besides the goal. */
export type PlanRequest = {
  /** As JSON: its own last plan, which was refused; empty the first time. */
  readonly lastPlan: string;
  /** How many characters the last plan lacks. */
  readonly lastPlanLeftOut: number;
  readonly limits: {
    readonly maxTasks: number;
    /** Tasks that run at the same time. */
    readonly maxConcurrent: number;
  };
  /** Who can be named in a task. */
  readonly agents: readonly {
    readonly name: string;
    readonly description: string;
    readonly isReadOnly: boolean;
  }[];
  /** Of the repository, in words: languages, tests, manifests. */
  readonly repository: readonly string[];
};

/** A settled child. Beyond the first few only its name and end are told, to keep the brief short. */
export type News = {
  readonly id: TaskId;
  readonly key: string;
  readonly end: "done" | "failed" | "skipped" | "cancelled";
  readonly summary: string;
  readonly files: readonly string[];
  readonly suggestions: readonly string[];
  /** Of a failed task: what its worker or its subplanner had reported, if anything. */
  readonly reported?: Pick<Handoff, "status" | "summary" | "metrics">;
};

export type WorkBrief = {
  readonly kind: "work";
  readonly run: string;
  readonly task: TaskId;
  readonly spec: TaskSpec;
  readonly attempt: number;
  readonly branch: string;
  readonly base: string;
  /** Why earlier attempts failed. */
  readonly past: readonly PastAttempt[];
  /** What was done in the tasks that this one waited for. */
  readonly before: readonly {
    readonly key: string;
    readonly summary: string;
    readonly files: readonly string[];
    /** The file of the scratchpad that has its whole result. */
    readonly output?: string;
  }[];
  readonly steers: readonly string[];
  /** Absent before the gate has run. */
  readonly gate?: GateTold;
  readonly workers?: WorkersTold;
  /** Its worker called for something: the same conversation goes on with the response. */
  readonly goOn?: Pick<GoOn, "start" | "session"> & {
    readonly response: ToolResponse;
    /** Its words are only the answer to its subtask's question: it changes nothing now. */
    readonly isAnswering?: true;
  };
  /** Of a subtask that accumulates: the results of the same worker's earlier subtasks. */
  readonly earlier?: readonly {
    readonly id: TaskId;
    readonly type: string;
    readonly result: SubtaskResult;
  }[];
};

export type CheckBrief = {
  readonly kind: "check";
  readonly run: string;
  readonly turn: number;
  readonly target: string;
  readonly tip: string;
  /** Nothing has landed: the tip is what the run began from. */
  readonly isBase?: true;
  /** The first look of the run: a gate that passed on the same tree before is not run again. */
  readonly mayReuse?: true;
  /** A failure decides something: the gate runs in a workspace that is made anew. */
  readonly isFresh?: true;
  /** What the gate said of this tip before, if it is enough to look where the target is. */
  readonly seen?: GateReport;
  /** Not the target is asked about, but its gate, which said `seen` of it. */
  readonly probe?: true;
};

export function briefOf(state: RunState, job: Job, policy: Policy): Brief {
  const { run } = state.request!;
  const prefix = policy.branchPrefix;
  switch (job.kind) {
    case "plan":
      return planBrief(state, job, policy);
    case "work":
      return workBrief(state, job, policy);
    case "land":
      return landBrief(state, job, policy);
    case "check":
      return {
        kind: "check",
        run,
        turn: job.turn,
        target: targetBranchOf(run, prefix),
        tip: state.target.tip,
        ...(job.probe || isOnlyLook(state, policy) ? { seen: state.target.report } : {}),
        ...(job.probe ? { probe: job.probe } : {}),
        ...(state.target.tip === state.request!.base ? { isBase: true } : {}),
        ...(state.target.checkedTip === undefined ? { mayReuse: true } : {}),
        ...(isDecisiveLook(state) && { isFresh: true }),
      };
  }
}

/** The tip is known to pass: only whether the target is still there is asked. */
const isOnlyLook = ({ target, landing }: RunState, policy: Policy): boolean =>
  target.unsure &&
  target.health === "green" &&
  target.checkedTip === target.tip &&
  !target.baseMoved &&
  // With several gates, the base is checked from the first red on.
  (policy.landing.gates === 1 ? landing.phase.is !== "base" : landing.phase.is === "open");

/** It was red the last time, or a candidate is compared with it. */
const isDecisiveLook = ({ target: { health }, landing: { phase } }: RunState): boolean =>
  health === "suspect" || health === "red" || phase.is === "base" || phase.is === "again";

function planBrief(state: RunState, job: Job & { readonly kind: "plan" }, policy: Policy): PlanBrief {
  const { run, goal } = state.request!;
  const { brief } = policy;
  const task = taskOf(state, job.task);
  const planner = state.planners.get(job.task);
  const news = (planner?.news ?? []).slice(0, planner?.told.news);
  return {
    kind: "plan",
    run,
    goal,
    task: task.id,
    spec: task.spec,
    depth: depth(task.id),
    turn: job.turn,
    tip: state.target.tip,
    transcript: `plan-${task.id}`,
    scratchpad: task.scratchpad,
    first: task.tries.answers === 0,
    maxTasks: (task.id === ROOT ? policy.root : policy.subplanner).maxTasksPerAnswer,
    rejected: task.rejected,
    notes: planner?.notes ?? [],
    news: news.map((id, i) => newsOf(taskOf(state, id), policy, i < brief.maxNews)),
    active: activeOf(state, job.task, brief.maxNews),
    concerns: [...(planner?.concerns.values() ?? [])]
      .slice(0, brief.maxConcerns)
      .map(({ plannedBefore: _, ...concern }) => concern),
    steers: task.id === ROOT ? state.steers.slice(0, planner?.told.steers) : [],
    ...gateIn(state),
    workers: workersIn(state, policy),
    ...labelsIn(state),
  };
}

const workersIn = ({ count }: RunState, { capacity }: Policy): WorkersTold => ({
  atOnce: capacity.work,
  free: Math.max(0, capacity.work - count.work),
});

function gateIn({ target: { report, slowestMs } }: RunState): { readonly gate?: GateTold } {
  const commands = report.commands.map(({ name, line }) => line ?? name);
  return commands.length === 0 ? {} : { gate: { commands, ...(slowestMs > 0 && { ms: slowestMs }) } };
}

/** Of a silent machine, too: it may be back before the task starts. */
function labelsIn({ machines }: RunState): Pick<PlanBrief, "labels"> {
  const labels = new Set(machines.values().flatMap((machine) => machine.labels));
  return labels.size === 0 ? {} : { labels: [...labels].sort().slice(0, MAX_LABELS_TOLD) };
}

const MAX_LABELS_TOLD = 100;

function newsOf({ id, spec, state }: Task, { brief }: Policy, inFull: boolean): News {
  const end = state.is as News["end"];
  const short: News = { id, key: spec.key, end, summary: "", files: [], suggestions: [] };
  if (!inFull) return short;
  if (state.is === "done") {
    const { summary, filesChanged, suggestions } = state.handoff;
    const files = filesChanged.slice(0, brief.maxFiles);
    return { ...short, summary: cut(summary, brief.maxSummaryChars), files, suggestions };
  }
  if (state.is !== "failed") return short;
  const told = { ...short, summary: cut(state.failure.message, brief.maxSummaryChars) };
  if (!state.handoff) return told;
  const { status, suggestions, metrics } = state.handoff;
  const summary = cut(state.handoff.summary, brief.maxSummaryChars);
  return { ...told, suggestions, reported: { status, summary, metrics } };
}

/** A planner needs to know what it has started, but not all of it. */
const activeOf = (state: RunState, id: TaskId, max: number): PlanBrief["active"] =>
  (state.planners.get(id)?.active.values() ?? new Set<TaskId>().values())
    .take(max)
    .map((child) => {
      const { spec } = taskOf(state, child);
      return { id: child, key: spec.key, description: cut(spec.description, 120) };
    })
    .toArray();

function workBrief(state: RunState, job: Job & { readonly kind: "work" }, policy: Policy): WorkBrief {
  const { run } = state.request!;
  const task = taskOf(state, job.task);
  const { id, spec, past } = task;
  return {
    kind: "work",
    run,
    task: id,
    spec,
    attempt: job.attempt,
    branch: branchOf({ prefix: policy.branchPrefix, run, task: id, attempt: job.attempt, slug: spec.slug }),
    base: task.base,
    past: policy.retry.maxRemembered === 0 ? [] : past.slice(-policy.retry.maxRemembered),
    before: doneBefore(state, spec, policy),
    steers: id === ROOT ? [...state.steers] : [],
    ...gateIn(state),
    workers: workersIn(state, policy),
    ...goOnOf(task),
    ...(spec.spawn?.context.accumulate_data && { earlier: earlierOf(state, id) }),
  };
}

function goOnOf({ goOn, state }: Task): Pick<WorkBrief, "goOn"> {
  if (!goOn?.response) return {};
  const { start, session, response } = goOn;
  return { goOn: { start, session, response, ...(state.is === "waiting" && { isAnswering: true }) } };
}

const earlierOf = (state: RunState, id: TaskId): NonNullable<WorkBrief["earlier"]> =>
  chainOf(state, parentId(id)!)
    .filter((other) => parentId(other.id) === parentId(id) && other.id !== id && isSettled(other))
    .slice(-MAX_EARLIER)
    .map((other) => ({
      id: other.id,
      type: other.spec.spawn!.type,
      result: responseTo(other, other.state).result,
    }));

const MAX_EARLIER = 20;

/** Beyond the first few only where a result is: a task that puts a thousand results together must find all of them. */
function doneBefore(state: RunState, { after }: TaskSpec, { brief }: Policy): WorkBrief["before"] {
  return after.flatMap((id, i) => {
    const { spec, state: end } = taskOf(state, id);
    const output = spec.terms?.output;
    if (i >= brief.maxNews && output === undefined) return [];
    const isTold = i < brief.maxNews && end.is === "done";
    return {
      key: spec.key,
      summary: isTold ? cut(end.handoff.summary, brief.maxSummaryChars) : "",
      files: isTold ? end.handoff.filesChanged.slice(0, brief.maxFiles) : [],
      ...(output !== undefined && { output }),
    };
  });
}
