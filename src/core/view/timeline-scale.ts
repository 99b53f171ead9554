/** Maps a run's times to places on a line; can leave out long waits in which no job was running. */
import { wallTime } from "../log/state.ts";
import type { Seen } from "./standing.ts";
import type { LaneView } from "./timeline.ts";

/** A wait is left out if it is longer than this time and this share of the run: leaving out less gains nothing. */
const MIN_WAIT_MS = 30_000;
const MIN_WAIT_SHARE = 0.02;
/** The width of a wait that is left out, as a share of all that is shown, so that it stays visible. */
const DRAWN_SHARE = 0.015;

type Stretch = { readonly from: number; readonly to: number };

/** Places are in ms from the left end, except inside waits that are left out. */
export type TimeScale = {
  readonly wide: number;
  readonly waits: readonly (Stretch & { readonly at: number; readonly wide: number })[];
  readonly placeOf: (time: number) => number;
  readonly timeAt: (place: number) => number;
};

export function timeScale({ from, to }: Stretch, leftOut: readonly Stretch[] = []): TimeScale {
  const busy = to - from - leftOut.reduce((sum, wait) => sum + wait.to - wait.from, 0);
  let place = 0;
  let time = from;
  const waits = leftOut.map((wait) => {
    const at = place + wait.from - time;
    const wide = Math.min(wait.to - wait.from, busy * DRAWN_SHARE);
    [place, time] = [at + wide, wait.to];
    return { ...wait, at, wide };
  });
  const wide = Math.max(1, place + to - time);
  return {
    wide,
    waits,
    placeOf: (asked) => {
      const before = waits.findLast((wait) => wait.from <= asked);
      if (!before) return Math.max(0, asked - from);
      const inside = Math.min(1, (asked - before.from) / (before.to - before.from)) * before.wide;
      return Math.min(wide, before.at + inside + Math.max(0, asked - before.to));
    },
    timeAt: (asked) => {
      const before = waits.findLast((wait) => wait.at <= asked);
      if (!before) return from + asked;
      const inside = before.wide === 0 ? 1 : Math.min(1, (asked - before.at) / before.wide);
      return before.from + inside * (before.to - before.from) + Math.max(0, asked - before.at - before.wide);
    },
  };
}

type TicksAsked = Stretch & {
  /** The time at which the labels count from 0. */
  readonly zero: number;
  /** How many labels have room between `from` and `to`, which are places of the scale. */
  readonly most: number;
  /** The width of a label on the right of its place: a label with less room there is left out. */
  readonly label?: number;
};

/** Round times since `zero`, in ms, far enough apart for their labels; none inside a wait that is left out. */
export function ticksOf(
  scale: TimeScale,
  { from, to, zero, most, label = 0 }: TicksAsked,
): readonly number[] {
  const step = stepOf(to - from, most);
  const last = scale.timeAt(to) - zero;
  const ticks: number[] = [];
  // On both sides of a wait that is left out, two round times can be close together.
  let free = Number.NEGATIVE_INFINITY;
  for (let ms = Math.ceil((scale.timeAt(from) - zero) / step) * step; ms <= last; ms += step) {
    const wait = scale.waits.find((one) => zero + ms > one.from && zero + ms < one.to);
    if (wait) {
      ms += Math.floor((wait.to - zero - ms) / step) * step;
      if (zero + ms < wait.to) continue;
    }
    const place = scale.placeOf(zero + ms);
    if (place < free || place > to - label) continue;
    ticks.push(ms);
    free = place + (to - from) / most;
  }
  return ticks;
}

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600];
const DAY_MS = 86_400_000;

/** A round time that fits at most `most` times into so many ms. */
function stepOf(ms: number, most: number): number {
  const seconds = STEPS_S.find((step) => ms / (step * 1_000) <= most);
  return seconds === undefined ? Math.ceil(ms / most / DAY_MS) * DAY_MS : seconds * 1_000;
}

/**
 * The long times in which no job was running. An interrupted job does not count as running while no process drove the
 * run.
 */
export function waitsOf(
  { state, story }: Seen,
  lanes: readonly LaneView[],
  all: Stretch,
): readonly Stretch[] {
  const stops = story.stops.map(({ from, to }) => ({ from: wallTime(state, from), to: wallTime(state, to) }));
  const jobs = lanes.flatMap(({ spans }) => spans.map(({ from, to = all.to, how }) => ({ from, to, how })));
  const cut = merged(jobs.filter(({ how }) => how === "interrupted"));
  const whole = jobs.filter(({ how }) => how !== "interrupted");
  const busy = merged([...without(cut, stops), ...whole]);
  const minMs = Math.max(MIN_WAIT_MS, (all.to - all.from) * MIN_WAIT_SHARE);
  return without([all], busy).filter(({ from, to }) => to - from >= minMs);
}

/** Sorted and without overlaps. */
function merged(spans: readonly Stretch[]): readonly Stretch[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}

/** Both lists are sorted and have no overlaps. */
function without(spans: readonly Stretch[], holes: readonly Stretch[]): readonly Stretch[] {
  const left: Stretch[] = [];
  let next = 0;
  for (const { from, to } of spans) {
    let at = from;
    while (next < holes.length && holes[next]!.to <= at) next += 1;
    for (let i = next; i < holes.length && holes[i]!.from < to; i += 1) {
      const hole = holes[i]!;
      if (hole.from > at) left.push({ from: at, to: hole.from });
      at = Math.max(at, hole.to);
    }
    if (at < to) left.push({ from: at, to });
  }
  return left;
}
