/** Forecasts a plan with a number of workers: runs the real engine on a virtual clock and a virtual repository. */

import type { WorkBrief } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import { type Job, type JobId, jobId, type Spent } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import type { Policy } from "../core/rules/policy.ts";
import { parentId, ROOT, type TaskId } from "../core/task.ts";
import { type HotFile, hotFiles } from "../core/view/hot-files.ts";
import { AGENT_PREFIX, type ExecutionPlan, GENERAL_PURPOSE, type PlanTask } from "../planning/plan.ts";
import { fixedPlanner } from "../planning/to-answer.ts";
import type { Assumed } from "./assumed.ts";
import { type Random, randomFrom, seedFor } from "./random.ts";
import { simulate } from "./simulate.ts";
import { type Timeline, timelineOf } from "./timeline.ts";
import { evidenceOf, type Fate, handoff, type QueueScript, type Worked } from "./virtual-queue.ts";
import { VirtualRepository } from "./virtual-repository.ts";

export type Forecast = Timeline & {
  readonly workers: number;
  /** The share of all workers' time in which they work. */
  readonly busyShare: number;
  readonly hotFiles: readonly HotFile[];
};

type Wanted = {
  readonly plan: ExecutionPlan;
  readonly assumed: Assumed;
  readonly workers: number;
  readonly policy: Policy;
  /** Matters only if something is left to chance: another seed gives another course of the run. */
  readonly seed?: number;
};

export async function forecast(wanted: Wanted): Promise<Forecast | { readonly failure: Failure }> {
  const { plan, workers, policy } = wanted;
  const simulated = await simulate({
    goal: plan.goal,
    policy: policyFor(policy, workers, plan.tasks.length),
    script: scriptOf(wanted),
    repository: new VirtualRepository(),
    maxMs: MAX_MS,
  });
  if ("stuck" in simulated)
    return { failure: failure("policy", `the plan would not end: ${simulated.stuck}`) };
  const timeline = timelineOf(simulated.events);
  const { used } = timeline;
  return {
    ...timeline,
    used: { ...used, unpriced: used.unpriced + outOfTime(simulated.events) },
    workers,
    busyShare: busyShare(timeline, workers),
    hotFiles: hotFiles(timeline),
  };
}

/** Counts attempts that ended before they reported a cost: their price is unknown, not zero. */
function outOfTime(events: readonly Event[]): number {
  const jobs = new Set<JobId>();
  for (const event of events) {
    if (event.type !== "job.ended") continue;
    if (event.how === "expired") jobs.add(event.job);
    else jobs.delete(event.job); // The job answered late.
  }
  return jobs.size;
}

/** Raises the task limit: a forecast never refuses a plan for its length. */
const policyFor = (policy: Policy, workers: number, tasks: number): Policy => ({
  ...policy,
  capacity: { ...policy.capacity, work: workers },
  root: { ...policy.root, maxTasksPerAnswer: Math.max(policy.root.maxTasksPerAnswer, tasks) },
  approval: "never", // How long a person takes to approve is unknown.
});

const MINUTE = 60_000;

/**
 * The duration of one attempt: the plan's estimate, else the agent's median in earlier runs, else the median of all
 * agents.
 */
export function workMs({ estimate, metadata }: PlanTask, assumed: Assumed): number {
  const minutes = estimate?.minutes;
  if (minutes !== undefined && minutes >= 0) return Math.round(Math.min(minutes, MAX_MINUTES) * MINUTE);
  const agent = metadata.agent.replace(AGENT_PREFIX, "");
  const name = agent === "" || agent === "main" ? GENERAL_PURPOSE : agent;
  return Math.round(assumed.workMsByAgent.get(name) ?? assumed.workMs);
}

/** One year: a longer estimate is a mistake. */
const MAX_MINUTES = 365 * 24 * 60;
/** A thousand tasks of a day each, one after the other. */
const MAX_MS = 1_000 * 24 * 60 * MINUTE;

function scriptOf(wanted: Wanted): QueueScript {
  const { plan, assumed, seed = 0 } = wanted;
  const answer = fixedPlanner(plan);
  return {
    plan: answer,
    work: (brief) =>
      worked(brief, isChosen(seed, `${brief.task} ${brief.attempt} breaks`, assumed.refusedShare)),
    ms: (job) => {
      if (job.kind === "plan") return 0; // The plan exists already.
      if (job.kind !== "work") return Math.round(assumed.gateMs);
      const task = taskIn(plan, job.task);
      return task ? workMs(task, assumed) : Math.round(assumed.workMs);
    },
    cost: (job) => costOf(job, wanted),
    fate: (job, ms) => fateOf(wanted, job, ms),
  };
}

/** The root's i-th child is the plan's i-th task; fix tasks come after them. */
function taskIn({ tasks }: ExecutionPlan, id: TaskId): PlanTask | undefined {
  return parentId(id) === ROOT ? tasks[Number(id.slice(ROOT.length + 1)) - 1] : undefined;
}

/** Every worker changes all files that its task names; a task without files changes one file of its own. */
function worked({ task, attempt, spec }: WorkBrief, isBad: boolean): Worked {
  const files = spec.terms?.loose
    ? [`${task}`]
    : spec.scope.map((path) => (path.endsWith("/") ? `${path}${task}` : path));
  const isReport = spec.delivers === "report";
  const breaks = isBad && !isReport ? [`test: ${task}#${attempt}`] : [];
  return {
    handoff: handoff(task, `did ${spec.key}`),
    evidence: {
      ...evidenceOf(isReport ? [] : files),
      ...(isReport ? {} : { commit: `${task}.${attempt}` }),
    },
    change: { files, breaks, heals: spec.repairs ?? [] },
    problems: breaks.map((name) => ({ class: "tests", name, files, message: "it does not work" })),
  };
}

function fateOf({ assumed, seed = 0 }: Wanted, job: Job, ms: number): Fate {
  const fails = job.kind === "work" && isChosen(seed, `${jobId(job)} fails`, assumed.failShare);
  if (!fails) return { is: "honest", ms };
  return {
    is: "instead",
    ms,
    outcome: { is: "failed", failure: failure("agent-failed", "by the share of attempts that fail") },
  };
}

function isChosen(seed: number, name: string, share: number): boolean {
  if (share <= 0) return false;
  const random: Random = randomFrom(seedFor(seed, name));
  return random.chance(share);
}

function costOf(job: Job, { plan, assumed }: Wanted): Spent {
  if (job.kind !== "work") return { tokens: 0 };
  const { tokens, dollars } = taskIn(plan, job.task)?.estimate ?? {};
  const price = dollars ?? assumed.workDollars;
  return {
    tokens: tokens ?? Math.round(assumed.workTokens),
    ...(price !== undefined && { microdollars: Math.round(price * 1_000_000) }),
  };
}

function busyShare({ bars, makespanMs }: Timeline, workers: number): number {
  const busyMs = bars.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  return makespanMs === 0 ? 0 : busyMs / (makespanMs * workers);
}
