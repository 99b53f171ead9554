/** How many tasks belong in one candidate? As many as cost the fewest gate runs, by what has been seen so far. */

/** What the gate has shown of tasks: how many landed, how many were found guilty of a red gate. */
export type Odds = { readonly good: number; readonly bad: number };

export const NO_ODDS: Odds = { good: 0, bad: 0 };

/** The size up to `max` with the fewest gate runs a task. */
export function bestBatch(odds: Odds, max: number): number {
  const p = shareOfBad(odds);
  let best = 1;
  for (let size = 2; size <= Math.min(max, LARGEST); size += 1)
    if (gateRunsPerTask(size, p) < gateRunsPerTask(best, p)) best = size;
  return best;
}

/**
 * Whether a candidate on top of so many tasks that have not landed yet is worth a gate run: it is discarded if one of
 * them is bad, which must not be the likelier end.
 */
export const mayBuildOn = (odds: Odds, members: number): boolean => (1 - shareOfBad(odds)) ** members >= 0.5;

/** How many tasks have a bad one among them once in twenty times. */
export const safeBatch = (odds: Odds): number => Math.floor(Math.log(0.95) / Math.log(1 - shareOfBad(odds)));

/** What was seen long ago counts for less: agents, goals and tests change in the course of a night. */
export const withSeen = ({ good, bad }: Odds, seen: Odds): Odds => {
  const sum = { good: good + seen.good, bad: bad + seen.bad };
  return sum.good + sum.bad < REMEMBERED ? sum : { good: sum.good / 2, bad: sum.bad / 2 };
};

/** One bad task in twenty is assumed, as if it had been seen with ten tasks: so the first batch is of a dozen. */
const shareOfBad = ({ good, bad }: Odds): number => (bad + 0.5) / (good + bad + 10);

/**
 * Expected gate runs for each task that leaves the queue. A green candidate takes one run and lands all. A red one
 * takes three (itself, once more, the target) and, with several members, the halves until one is found: those
 * before it land on the way, it is refused, those after it queue again.
 */
function gateRunsPerTask(size: number, p: number): number {
  if (p <= 0) return 1 / size;
  const allGood = (1 - p) ** size;
  const bisect = size === 1 ? 3 : 4 + Math.log2(size);
  const left = (1 - allGood) / p; // Those before the first bad one, and that one; all, if there is none.
  return (allGood + (1 - allGood) * bisect) / left;
}

const REMEMBERED = 200;
/** A candidate of more members takes so long to merge that the gate is no longer what is waited for. */
const LARGEST = 1_000;
