/** Makes the brief of a job: everything that it needs, so that it can run here or on another machine. */

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

/**
 * The commands that a change must pass after it is merged. `ms`: the longest that they took on the target; absent
 * before the first run.
 */
export type GateTold = { readonly commands: readonly string[]; readonly ms?: number };

/** `atOnce`: how many tasks can be worked on at once. `free`: how many of these workers are idle now. */
export type WorkersTold = { readonly atOnce: number; readonly free: number };

export type PlanBrief = {
  readonly kind: "plan";
  readonly run: string;
  readonly goal: string;
  readonly task: TaskId;
  readonly spec: TaskSpec;
  readonly depth: number;
  readonly turn: number;
  /** The target's tip, which the planner may explore. */
  readonly tip: string;
  /**
   * Names the planner's one conversation, which is reloaded each turn. If it is lost, the rest of the brief is enough
   * to go on.
   */
  readonly transcript: string;
  readonly scratchpad: string;
  readonly first: boolean;
  readonly maxTasks: number;
  /** Why the planner's last answer was refused, and what was corrected in the answer before it. */
  readonly rejected: readonly string[];
  readonly notes: readonly string[];
  readonly news: readonly News[];
  readonly active: readonly { readonly id: TaskId; readonly key: string; readonly description: string }[];
  readonly concerns: readonly Omit<Concern, "plannedBefore">[];
  readonly steers: readonly string[];
  /** Absent before the gate has run. */
  readonly gate?: GateTold;
  readonly workers?: WorkersTold;
  /** Labels of the fleet's machines, which a task may ask for (`needs`). Absent if there are none. */
  readonly labels?: readonly string[];
  /**
   * Set if an execution plan of the whole goal is asked for, before any run; `rejected` says why the last one was
   * refused.
   */
  readonly request?: PlanRequest;
};

/** What the maker of an execution plan must know besides the goal. */
export type PlanRequest = {
  /** Its own last plan, which was refused, as JSON; empty the first time. */
  readonly lastPlan: string;
  /** How many characters of the last plan were cut off. */
  readonly lastPlanLeftOut: number;
  readonly limits: {
    readonly maxTasks: number;
    /** How many tasks may run at the same time. */
    readonly maxConcurrent: number;
  };
  /** The specialists that a task can name. */
  readonly agents: readonly {
    readonly name: string;
    readonly description: string;
    readonly isReadOnly: boolean;
  }[];
  /** The repository in words: languages, tests, manifests. */
  readonly repository: readonly string[];
};

/**
 * A settled child. Only the first few are told in full, to keep the brief short; of the others, the name and the end.
 */
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
  /** What the tasks that this one waited for have done. */
  readonly before: readonly {
    readonly key: string;
    readonly summary: string;
    readonly files: readonly string[];
    /** The file of the scratchpad with the task's whole result. */
    readonly output?: string;
  }[];
  readonly steers: readonly string[];
  /** Absent before the gate has run. */
  readonly gate?: GateTold;
  readonly workers?: WorkersTold;
  /** Set if the worker asked for a subtask or asked a question: the same conversation goes on with the response. */
  readonly goOn?: Pick<GoOn, "start" | "session"> & {
    readonly response: ToolResponse;
    /** The worker shall only answer its subtask's question, and change no file in this turn. */
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
  /** Nothing has landed: the tip is the commit that the run began from. */
  readonly isBase?: true;
  /** This is the run's first check: a gate that passed on the same tree before is not run again. */
  readonly mayReuse?: true;
  /** A failure decides something, so the gate runs in a fresh workspace. */
  readonly isFresh?: true;
  /** The gate's last report of this tip, if the job shall only find out where the target is. */
  readonly seen?: GateReport;
  /** This job probes the gate, whose report of the target is in `seen`. */
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

/** The tip is known to pass: the job only finds out whether the target is still there. */
const isOnlyLook = ({ target, landing }: RunState, policy: Policy): boolean =>
  target.unsure &&
  target.health === "green" &&
  target.checkedTip === target.tip &&
  !target.baseMoved &&
  // With several gates, the base is checked from the first red candidate on.
  (policy.landing.gates === 1 ? landing.phase.is !== "base" : landing.phase.is === "open");

/** The target was red in its last check, or a candidate is compared with it. */
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

/** Labels of silent machines count, too: such a machine may be back before the task starts. */
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

/** Lists the planner's active tasks, but at most `max` of them, to keep the brief short. */
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

/**
 * Beyond the first few, only tasks with an output file are told, without summary: a task that puts a thousand results
 * together must find them all.
 */
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
