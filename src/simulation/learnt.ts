/** Learns durations, costs and failure rates from the events of earlier runs. */

import { type Failure, isAccounts } from "../core/failure.ts";
import type { Event, NewTask } from "../core/log/event.ts";
import type { TaskId } from "../core/task.ts";
import { foldSpans, hasGated, type JobSpan, noSpans } from "../core/view/job-spans.ts";
import { GENERAL_PURPOSE } from "../planning/plan.ts";
import type { Learnt } from "./assumed.ts";

/** Uses medians, so that one attempt that hung for an hour does not make every forecast longer. */
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
  /** Attempts that ended with an answer or at their time limit. */
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
  const spans = noSpans();
  const agents = new Map<TaskId, string>();
  /** Tasks whose last attempt was counted already: an attempt can fail only once. */
  const tried = new Set<TaskId>();
  const ofTasks = (into: readonly NewTask[]) => {
    for (const { id, spec } of into) agents.set(id, spec.agent ?? GENERAL_PURPOSE);
  };
  for (const event of events) {
    foldSpans(spans, event);
    if (event.type === "plan.accepted" || event.type === "repair.planned") ofTasks(event.into);
    if (event.type === "job.ended") {
      const span = spans.byId.get(event.job);
      if (span?.kind === "work" && TRIED.has(event.how)) {
        seen.tried += 1;
        tried.add(span.tasks[0]!);
      }
    }
    if (event.type !== "task.retried" && event.type !== "task.failed") continue;
    const isCharged = event.type === "task.failed" || event.charge !== "nothing";
    if (tried.delete(event.task) && isCharged) countFailure(seen, event.failure);
  }
  for (const span of spans.all) if (span.how === "answered") learnDuration(seen, span, agents);
}

const TRIED: ReadonlySet<string> = new Set(["answered", "answered-late", "expired"]);

function countFailure(seen: Seen, failure: Failure): void {
  if (failure.kind === "conflict" || failure.kind === "gate-red") seen.refused += 1;
  else if (!isAccounts(failure)) seen.failed += 1;
}

/** Only of answered jobs: others were stopped, or ended with their engine. */
function learnDuration(seen: Seen, span: JobSpan, agents: ReadonlyMap<TaskId, string>): void {
  const { kind, from, to, tasks, spent } = span;
  const ms = to! - from;
  if (kind === "plan") seen.plan.push(ms);
  else if (hasGated(span)) seen.gate.push(ms);
  else if (kind === "work") {
    const agent = agents.get(tasks[0]!) ?? GENERAL_PURPOSE;
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
