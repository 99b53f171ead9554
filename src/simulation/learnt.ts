/** Learns from earlier runs how long things take, what they cost and how often they fail. */

import { type Failure, isAccounts } from "../core/failure.ts";
import { type JobId, jobId, taskOfJob } from "../core/job.ts";
import type { Event, NewTask } from "../core/log/event.ts";
import type { TaskId } from "../core/task.ts";
import { GENERAL_PURPOSE } from "../planning/plan.ts";
import type { Learnt } from "./assumed.ts";

/** Medians: one attempt that hung for an hour must not make every forecast longer. */
export function learnFrom(runs: readonly (readonly Event[])[]): Learnt {
  const seen = nothingSeen();
  for (const events of runs) look(seen, events);
  const work = [...seen.work.values()].flat();
  const measured = {
    workMs: median(work),
    planMs: median(seen.plan),
    gateMs: median(seen.gate),
    workTokens: median(seen.tokens),
    workDollars: median(seen.dollars),
    failShare: share(seen.failed, seen.tried),
    refusedShare: share(seen.refused, seen.tried - seen.failed),
  };
  return {
    runs: runs.length,
    attempts: work.length,
    workMsByAgent: new Map([...seen.work].map(([agent, all]) => [agent, median(all)!])),
    ...known(measured),
  };
}

type Seen = {
  readonly work: Map<string, number[]>;
  readonly plan: number[];
  readonly gate: number[];
  readonly tokens: number[];
  readonly dollars: number[];
  /** Attempts that were left to their end, or to that of their time. */
  tried: number;
  failed: number;
  refused: number;
};

const nothingSeen = (): Seen => ({
  work: new Map(),
  plan: [],
  gate: [],
  tokens: [],
  dollars: [],
  tried: 0,
  failed: 0,
  refused: 0,
});

function look(seen: Seen, events: readonly Event[]): void {
  const since = new Map<JobId, number>();
  const agents = new Map<TaskId, string>();
  /** Tasks whose last attempt was counted: it can fail once at most. */
  const tried = new Set<TaskId>();
  const ofTasks = (into: readonly NewTask[]) => {
    for (const { id, spec } of into) agents.set(id, spec.agent ?? GENERAL_PURPOSE);
  };
  for (const event of events) {
    if (event.type === "plan.accepted" || event.type === "repair.planned") ofTasks(event.into);
    if (event.type === "job.started") since.set(jobId(event.job), event.at);
    if (event.type === "job.taken") since.set(event.job, event.since); // What it waited for a machine is not its time.
    if (event.type === "job.ended") ended(seen, event, { since, agents, tried });
    if (event.type !== "task.retried" && event.type !== "task.failed") continue;
    const isCharged = event.type === "task.failed" || event.charge !== "nothing";
    if (tried.delete(event.task) && isCharged) countFailure(seen, event.failure);
  }
}

function countFailure(seen: Seen, failure: Failure): void {
  if (failure.kind === "conflict" || failure.kind === "gate-red") seen.refused += 1;
  else if (!isAccounts(failure)) seen.failed += 1;
}

/** Only answered jobs have a duration: others were given up, or ended with their engine. */
function ended(
  seen: Seen,
  { job, how, at, spent }: Event & { readonly type: "job.ended" },
  known: {
    readonly since: ReadonlyMap<JobId, number>;
    readonly agents: ReadonlyMap<TaskId, string>;
    readonly tried: Set<TaskId>;
  },
): void {
  const from = known.since.get(job);
  if (from === undefined) return;
  const isWork = job.startsWith("work:");
  if (isWork && (how === "answered" || how === "answered-late" || how === "expired")) {
    seen.tried += 1;
    known.tried.add(taskOfJob(job)!);
  }
  if (how !== "answered") return;
  const ms = at - from;
  if (job.startsWith("plan:")) seen.plan.push(ms);
  else if (!isWork) seen.gate.push(ms);
  else {
    const agent = known.agents.get(taskOfJob(job)!) ?? GENERAL_PURPOSE;
    const times = seen.work.get(agent);
    if (times) times.push(ms);
    else seen.work.set(agent, [ms]);
    if (spent && spent.tokens > 0) seen.tokens.push(spent.tokens);
    if (spent?.microdollars !== undefined) seen.dollars.push(spent.microdollars / 1_000_000);
  }
}

export function median(all: readonly number[]): number | undefined {
  if (all.length === 0) return undefined;
  const sorted = all.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

const share = (part: number, whole: number): number | undefined => (whole > 0 ? part / whole : undefined);

type Known<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

const known = <T extends object>(measured: T): Known<T> =>
  Object.fromEntries(Object.entries(measured).filter(([, value]) => value !== undefined)) as Known<T>;
