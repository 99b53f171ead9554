/** Divides the time of a run into parts: each moment counts once, for the most useful thing that was going on. */
import type { JobKind } from "../rules/policy.ts";
import { isWaiting } from "./job-spans.ts";
import type { Story } from "./story.ts";

/** The parts add up to the time from the opening to the end, or to the newest event. */
export type TimeSpent = {
  readonly totalMs: number;
  readonly parts: readonly { readonly is: TimePart; readonly ms: number }[];
  /** `workingMs`: with at least one worker at work. `allBusyMs`: with as many at work as ever were at once. */
  readonly workingMs: number;
  readonly allBusyMs: number;
  readonly mostWorkers: number;
};

/**
 * `work`: a worker was at work. `plan`: a planner, and no worker. `gate`: only landings and checks. `prepare`: only
 * workspaces were made ready. `stopped`: no engine drove the run, or it was paused. `wait`: nothing was going on, for
 * example before a retry or an approval.
 */
export type TimePart = "work" | "plan" | "gate" | "prepare" | "stopped" | "wait";

const PARTS: readonly TimePart[] = ["work", "plan", "gate", "prepare", "stopped", "wait"];
const PART_OF: Readonly<Record<JobKind, TimePart>> = {
  work: "work",
  plan: "plan",
  land: "gate",
  check: "gate",
};

export function timeSpent(story: Story, openedAt: number): TimeSpent {
  const end = story.closed?.at ?? story.lastAt;
  const edges = edgesOf(story, end);
  const active: Record<TimePart, number> = { work: 0, plan: 0, gate: 0, prepare: 0, stopped: 0, wait: 1 };
  const took: Record<TimePart, number> = { work: 0, plan: 0, gate: 0, prepare: 0, stopped: 0, wait: 0 };
  const byWorkers = new Map<number, number>();
  let now = openedAt;
  for (const { at, is, by } of [...edges, { at: end, is: "wait" as const, by: 0 }]) {
    const ms = Math.max(0, Math.min(at, end) - now);
    now += ms;
    took[PARTS.find((part) => active[part] > 0)!] += ms;
    byWorkers.set(active.work, (byWorkers.get(active.work) ?? 0) + ms);
    active[is] += by;
  }
  const mostWorkers = Math.max(0, ...[...byWorkers].flatMap(([workers, ms]) => (ms > 0 ? [workers] : [])));
  return {
    totalMs: end - openedAt,
    parts: PARTS.map((is) => ({ is, ms: took[is] })),
    workingMs: took.work,
    allBusyMs: mostWorkers === 0 ? 0 : byWorkers.get(mostWorkers)!,
    mostWorkers,
  };
}

type Edge = { readonly at: number; readonly is: TimePart; readonly by: 1 | -1 };

/** Where jobs and stops begin or end, in order. */
function edgesOf({ spans, stops }: Story, end: number): readonly Edge[] {
  // An interrupted job's last sign of life was before the stop, but its end is noted after it.
  const lastSign = new Map(stops.map(({ from, to }) => [to, from]));
  const all = [
    ...stops.map((stop) => ({ ...stop, is: "stopped" as const })),
    ...spans.all.flatMap((span) => {
      if (isWaiting(span)) return [];
      const { kind, from, to: until = end, how, prepareMs } = span;
      const to = how === "interrupted" ? Math.max(from, lastSign.get(until) ?? until) : until;
      const ready = Math.min(from + prepareMs, to);
      return [
        { is: "prepare" as const, from, to: ready },
        { is: PART_OF[kind], from: ready, to },
      ];
    }),
  ];
  return all
    .flatMap(({ is, from, to }): readonly Edge[] => [
      { at: from, is, by: 1 },
      { at: to, is, by: -1 },
    ])
    .sort((a, b) => a.at - b.at);
}
