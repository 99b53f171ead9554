/** Computes the size of a candidate: the number of tasks with the fewest gate runs per task, by this run's odds. */

/** How many tasks have landed, and how many were found guilty of a red gate. */
export type Odds = { readonly good: number; readonly bad: number };

export const NO_ODDS: Odds = { good: 0, bad: 0 };

/** The size up to `max` with the fewest gate runs per task. */
export function bestBatch(odds: Odds, max: number): number {
  const p = shareOfBad(odds);
  let best = 1;
  for (let size = 2; size <= Math.min(max, LARGEST); size += 1)
    if (gateRunsPerTask(size, p) < gateRunsPerTask(best, p)) best = size;
  return best;
}

/**
 * True if a candidate on top of so many tasks that have not landed is worth a gate run. It is discarded if one of them
 * is bad, so that must not be the likelier end.
 */
export const mayBuildOn = (odds: Odds, members: number): boolean => (1 - shareOfBad(odds)) ** members >= 0.5;

/** The largest number of tasks that has a bad one among them at most once in twenty times. */
export const safeBatch = (odds: Odds): number => Math.floor(Math.log(0.95) / Math.log(1 - shareOfBad(odds)));

/** Adds new results, and halves old ones: agents, goals and tests change in the course of a night. */
export const withSeen = ({ good, bad }: Odds, seen: Odds): Odds => {
  const sum = { good: good + seen.good, bad: bad + seen.bad };
  return sum.good + sum.bad < REMEMBERED ? sum : { good: sum.good / 2, bad: sum.bad / 2 };
};

/** Assumes one bad task in twenty at first, with the weight of ten tasks: so the first batch has a dozen. */
const shareOfBad = ({ good, bad }: Odds): number => (bad + 0.5) / (good + bad + 10);

/**
 * Expected gate runs for each task that leaves the queue. A green candidate takes one run and lands all members. A red
 * one takes three runs (itself, once more, the target). With several members it also takes the runs of the bisection:
 * the members before the guilty one land, the guilty one is refused, those after it queue again.
 */
function gateRunsPerTask(size: number, p: number): number {
  if (p <= 0) return 1 / size;
  const allGood = (1 - p) ** size;
  const bisect = size === 1 ? 3 : 4 + Math.log2(size);
  const left = (1 - allGood) / p; // Up to the first bad one; all, if none is bad.
  return (allGood + (1 - allGood) * bisect) / left;
}

const REMEMBERED = 200;
/** A larger candidate takes so long to merge that the gate is no longer the slowest part. */
const LARGEST = 1_000;
