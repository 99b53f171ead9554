/** Compares a plan's forecast for 1, 2, 4, 8 … workers, and finds the smallest number that is nearly as fast as any. */
import type { Failure } from "../core/failure.ts";
import type { Policy } from "../core/rules/policy.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import { criticalPath } from "../planning/waves.ts";
import { type Assumed, isByChance } from "./assumed.ts";
import { type Forecast, forecast, workMs } from "./forecast.ts";
import { median } from "./learnt.ts";

export type SpeedUp = {
  readonly rows: readonly Row[];
  /** The smallest number of workers within 5 % of the best time; known to a 16th for large numbers. */
  readonly useful: number;
  /** The number of simulations per number of workers; more than one if something is left to chance. */
  readonly stories: number;
  /** The forecast with the useful number of workers; the median one of several simulations. */
  readonly forecast: Forecast;
  readonly critical: Critical;
};

export type Row = {
  readonly workers: number;
  readonly makespanMs: number;
  /** Nine in ten simulations are over by then; undefined if there is only one. */
  readonly p90Ms?: number;
  readonly speedUp: number;
  readonly efficiency: number;
  readonly busyShare: number;
  readonly tokens: number;
  readonly dollars: number;
  /** Jobs of unknown price, which the sum does not contain. */
  readonly unpriced: number;
  readonly conflicts: number;
  readonly gateRuns: number;
  /** The share of simulations in which all tasks were done. */
  readonly doneShare: number;
};

/** The longest chain of tasks that wait for each other: no number of workers is faster. */
type Critical = { readonly tasks: readonly string[]; readonly ms: number };

type Wanted = {
  readonly plan: ExecutionPlan;
  readonly assumed: Assumed;
  readonly policy: Policy;
  readonly maxWorkers?: number;
  readonly seed?: number;
  /** The number of simulations if something is left to chance. */
  readonly stories?: number;
};

/**
 * Eighteen of twenty are nine in ten. Large plans get fewer simulations, because about 5,000 attempts take a second.
 */
const STORIES = { most: 20, fewest: 5, attempts: 30_000 } as const;
const MICRO = 1_000_000;
/** Within this factor of the best time, more workers only cost. */
const GOOD_ENOUGH = 1.05;
/** The number is searched by bisection until it is known to a 16th, in at most four steps. */
const NEAR = 16;
const MAX_HALVINGS = 4;

export async function speedUp(wanted: Wanted): Promise<SpeedUp | { readonly failure: Failure }> {
  const counts = workerCounts(wanted.plan.tasks.length, wanted.maxWorkers);
  const many = storiesFor(wanted, counts.length + MAX_HALVINGS);
  const all: Told[] = [];
  for (const workers of counts) {
    const told = await tell({ ...wanted, stories: many }, workers);
    if ("failure" in told) return told;
    all.push(told);
  }
  const isGood = isGoodIn(all);
  const at = all.findIndex(isGood);
  const fewer = await fewest({ ...wanted, stories: many }, [all[at - 1], all[at]!], isGood);
  if ("failure" in fewer) return fewer;
  if (fewer !== all[at]) all.splice(at, 0, fewer);
  const single = middle(all[0]!).makespanMs;
  return {
    rows: all.map((told) => rowOf(told, single)),
    useful: middle(fewer).workers,
    stories: many,
    forecast: middle(fewer),
    critical: criticalOf(wanted.plan, wanted.assumed),
  };
}

type Told = readonly Forecast[];

function isGoodIn(all: readonly Told[]): (told: Told) => boolean {
  const best = Math.min(...all.map((told) => middle(told).makespanMs));
  return (told) => middle(told).makespanMs <= best * GOOD_ENOUGH;
}

/** Bisects between two tried numbers of which the second is good enough, until the rest makes no difference. */
async function fewest(
  wanted: Wanted & { readonly stories: number },
  [below, good]: readonly [Told | undefined, Told],
  isGood: (told: Told) => boolean,
): Promise<Told | { readonly failure: Failure }> {
  let [low, found] = [below ? middle(below).workers : 0, good];
  while (middle(found).workers - low > Math.max(1, low / NEAR)) {
    const told = await tell(wanted, (low + middle(found).workers) >> 1);
    if ("failure" in told) return told;
    if (isGood(told)) found = told;
    else low = middle(told).workers;
  }
  return found;
}

/** 1, 2, 4 …, and finally the number of tasks or the maximum. */
function workerCounts(tasks: number, max: number = tasks): readonly number[] {
  const most = Math.max(1, Math.min(tasks, max));
  const counts: number[] = [];
  for (let n = 1; n < most; n *= 2) counts.push(n);
  return [...counts, most];
}

function storiesFor({ plan, assumed, stories }: Wanted, rows: number): number {
  if (!isByChance(assumed)) return 1;
  const affordable = Math.floor(STORIES.attempts / Math.max(1, plan.tasks.length * rows));
  return stories ?? Math.max(STORIES.fewest, Math.min(STORIES.most, affordable));
}

async function tell(
  { seed = 1, stories, ...wanted }: Wanted & { readonly stories: number },
  workers: number,
): Promise<Told | { readonly failure: Failure }> {
  const told: Forecast[] = [];
  for (let i = 0; i < stories; i += 1) {
    const one = await forecast({ ...wanted, workers, seed: seed + i });
    if ("failure" in one) return one;
    told.push(one);
  }
  return told;
}

const byTime = (told: Told) => told.toSorted((a, b) => a.makespanMs - b.makespanMs);
const middle = (told: Told): Forecast => byTime(told)[(told.length - 1) >> 1]!;

function rowOf(told: Told, single: number): Row {
  const mid = middle(told);
  const { workers, makespanMs } = mid;
  const gain = makespanMs === 0 ? 1 : single / makespanMs;
  const of = (what: (one: Forecast) => number) => Math.round(median(told.map(what))!);
  return {
    workers,
    makespanMs,
    ...(told.length > 1 && { p90Ms: byTime(told)[Math.ceil(told.length * 0.9) - 1]!.makespanMs }),
    speedUp: gain,
    efficiency: gain / workers,
    busyShare: mid.busyShare,
    tokens: of(({ used }) => used.tokens),
    dollars: of(({ used }) => used.microdollars) / MICRO,
    unpriced: of(({ used }) => used.unpriced),
    conflicts: of(({ conflicts }) => conflicts),
    gateRuns: of(({ gateRuns }) => gateRuns),
    doneShare: told.filter(({ end }) => end === "done").length / told.length,
  };
}

function criticalOf({ tasks }: ExecutionPlan, assumed: Assumed): Critical {
  const msOf = new Map(
    tasks.map((task) => [
      task.id,
      workMs(task, assumed) + (task.delivers === "change" ? Math.round(assumed.gateMs) : 0),
    ]),
  );
  const timed = tasks.map(({ id, blockedBy }) => ({ id, blockedBy, estimate: { minutes: msOf.get(id)! } }));
  const path = criticalPath({ tasks: timed });
  return { tasks: path, ms: path.reduce((sum, id) => sum + msOf.get(id)!, 0) };
}
