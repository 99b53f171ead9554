/** How would a plan go with so many workers? The real engine on a virtual clock, in a repository that is made up. */

import type { WorkBrief } from "../core/brief.ts";
import type { Event } from "../core/event.ts";
import { type Failure, failure } from "../core/failure.ts";
import { type Job, type JobId, jobId, type Spent } from "../core/job.ts";
import type { Policy } from "../core/policy.ts";
import { parentId, ROOT, type TaskId } from "../core/task.ts";
import { AGENT_PREFIX, type ExecutionPlan, GENERAL_PURPOSE, type PlanTask } from "../planning/plan.ts";
import { fixedPlanner } from "../planning/to-answer.ts";
import type { Assumed } from "./assumed.ts";
import { type HotFile, hotFiles } from "./hot-files.ts";
import { freeProvider, type Provider } from "./provider.ts";
import { type Random, randomFrom, seedFor } from "./random.ts";
import { evidenceOf, handoff } from "./scripted-team.ts";
import { simulate } from "./simulate.ts";
import { type Timeline, timelineOf } from "./timeline.ts";
import { type Fate, noMischief, type Script, type Worked } from "./virtual-queue.ts";
import { VirtualRepository } from "./virtual-repository.ts";

export type Forecast = Timeline & {
  readonly workers: number;
  /** Of the time that all workers have, the part in which they work. */
  readonly busyShare: number;
  readonly hotFiles: readonly HotFile[];
};

export type Wanted = {
  readonly plan: ExecutionPlan;
  readonly assumed: Assumed;
  readonly workers: number;
  readonly policy: Policy;
  /** Another seed, another story; it matters only where something is left to chance. */
  readonly seed?: number;
};

export async function forecast(wanted: Wanted): Promise<Forecast | { readonly failure: Failure }> {
  const { plan, workers, policy } = wanted;
  const simulated = await simulate({
    goal: plan.goal,
    policy: policyFor(policy, workers, plan.tasks.length),
    script: scriptOf(wanted),
    repository: new VirtualRepository(),
    provider: providerOf(wanted),
    mischief: { ...noMischief, fate: (job, _brief, ms) => fateOf(wanted, job, ms) },
    together: true,
    maxMs: MAX_MS,
  });
  if (simulated.end.is === "stuck")
    return { failure: failure("policy", `the plan would not come to an end: ${simulated.end.why}`) };
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

/** Attempts that ended before they said what they cost: it was not nothing. */
function outOfTime(events: readonly Event[]): number {
  const jobs = new Set<JobId>();
  for (const event of events) {
    if (event.type !== "job.ended") continue;
    if (event.how === "expired") jobs.add(event.job);
    else jobs.delete(event.job); // It has answered after all.
  }
  return jobs.size;
}

/** A plan is never refused for its length here: who may run it is for others to say. */
const policyFor = (policy: Policy, workers: number, tasks: number): Policy => ({
  ...policy,
  capacity: { ...policy.capacity, work: workers },
  root: { ...policy.root, maxTasksPerAnswer: Math.max(policy.root.maxTasksPerAnswer, tasks) },
  approval: "never", // How long a person takes nobody knows.
});

const MINUTE = 60_000;

/** What one attempt at it takes: as the plan says, else as its agent was seen to take, else as anybody. */
export function workMs({ estimate, metadata }: PlanTask, assumed: Assumed): number {
  const minutes = estimate?.minutes;
  if (minutes !== undefined && minutes >= 0) return Math.round(Math.min(minutes, MAX_MINUTES) * MINUTE);
  const agent = metadata.agent.replace(AGENT_PREFIX, "");
  const name = agent === "" || agent === "main" ? GENERAL_PURPOSE : agent;
  return Math.round(assumed.workMsByAgent.get(name) ?? assumed.workMs);
}

/** A year: what takes longer was not meant. */
const MAX_MINUTES = 365 * 24 * 60;
/** A thousand tasks of a day each, one after the other. */
const MAX_MS = 1_000 * 24 * 60 * MINUTE;

function scriptOf({ plan, assumed, seed = 0 }: Wanted): Script {
  const answer = fixedPlanner(plan);
  return {
    plan: answer,
    work: (brief) =>
      worked(brief, isChosen(seed, `${brief.task} ${brief.attempt} breaks`, assumed.refusedShare)),
    ms: (job) => {
      if (job.kind === "plan") return 0; // It is there already.
      if (job.kind !== "work") return Math.round(assumed.gateMs);
      const task = taskIn(plan, job.task);
      return task ? workMs(task, assumed) : Math.round(assumed.workMs);
    },
  };
}

/** The root's i-th child is the plan's i-th task; fixes come after them. */
function taskIn({ tasks }: ExecutionPlan, id: TaskId): PlanTask | undefined {
  return parentId(id) === ROOT ? tasks[Number(id.slice(ROOT.length + 1)) - 1] : undefined;
}

/** Everybody does what is asked, in all files that are named; where none are, in one that nobody else has. */
export function worked({ task, attempt, spec }: WorkBrief, isBad: boolean): Worked {
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

function providerOf({ plan, assumed }: Wanted): Provider {
  return {
    ...freeProvider,
    cost: (job): Spent => {
      if (job.kind !== "work") return { tokens: 0 };
      const { tokens, dollars } = taskIn(plan, job.task)?.estimate ?? {};
      const price = dollars ?? assumed.workDollars;
      return {
        tokens: tokens ?? Math.round(assumed.workTokens),
        ...(price !== undefined && { microdollars: Math.round(price * 1_000_000) }),
      };
    },
  };
}

function busyShare({ bars, makespanMs }: Timeline, workers: number): number {
  const busyMs = bars.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  return makespanMs === 0 ? 0 : busyMs / (makespanMs * workers);
}
