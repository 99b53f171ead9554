/** Computes makespans to compare the engine with: of an ideal list scheduler, and two lower bounds for any schedule. */
import { Heap } from "../src/graph/heap.ts";
import type { Workload } from "./engine-workload.ts";

/**
 * `at once`: a task that becomes ready can start on the worker whose task completed it. `after`: that worker has chosen
 * its next task before.
 */
export type Freeing = "at once" | "after";

/** Each free worker starts the first ready task in `order`; nothing else takes time. */
export function idealMakespanMs(
  workload: Workload,
  workers: number,
  order: readonly number[],
  freeing: Freeing = "at once",
): number {
  const rank = new Int32Array(workload.length);
  for (const [i, place] of order.entries()) rank[place] = i;
  const dependents = dependentsOf(workload);
  const unmet = workload.map(({ after }) => after.length);
  const endsAt = new Float64Array(workload.length);
  const ready = new Heap<number>((a, b) => rank[a]! < rank[b]!);
  const atWork = new Heap<number>((a, b) => endsAt[a]! < endsAt[b]!);
  let now = 0;
  const start = () => {
    while (ready.size > 0 && atWork.size < workers) {
      const place = ready.pop()!;
      endsAt[place] = now + workload[place]!.ms;
      atWork.push(place);
    }
  };
  const free = (place: number) => {
    for (const next of dependents[place]!) {
      unmet[next]! -= 1;
      if (unmet[next] === 0) ready.push(next);
    }
  };
  for (const [place, count] of unmet.entries()) if (count === 0) ready.push(place);
  for (start(); atWork.size > 0; start()) {
    const ended = atWork.pop()!;
    now = endsAt[ended]!;
    if (freeing === "after") start();
    free(ended);
    while (freeing === "at once" && atWork.size > 0 && endsAt[atWork.at(0)!]! === now) free(atWork.pop()!);
  }
  return now;
}

/** By priority, then age. */
export const byPriority = (workload: Workload): readonly number[] =>
  placesOf(workload).sort((a, b) => workload[a]!.priority - workload[b]!.priority || a - b);

/**
 * By priority, then the longest chain behind, then age. Chains are counted in tasks, because durations are not known
 * beforehand.
 */
export function byLongestPath(workload: Workload): readonly number[] {
  const behind = chainsBehind(workload, () => 1);
  return placesOf(workload).sort(
    (a, b) => workload[a]!.priority - workload[b]!.priority || behind[b]! - behind[a]! || a - b,
  );
}

/** No schedule is shorter than its longest chain, or than all the work divided evenly. */
export function lowerBoundMs(workload: Workload, workers: number): number {
  const chains = chainsBehind(workload, (place) => workload[place]!.ms);
  const longest = chains.reduce((most, behind, place) => Math.max(most, behind + workload[place]!.ms), 0);
  const total = workload.reduce((sum, { ms }) => sum + ms, 0);
  return Math.max(longest, total / workers);
}

/**
 * For each task the longest chain of tasks that wait for it, the task itself excluded. Dependencies are earlier in the
 * list.
 */
function chainsBehind(workload: Workload, lengthOf: (place: number) => number): readonly number[] {
  const behind = workload.map(() => 0);
  for (let place = workload.length - 1; place >= 0; place -= 1) {
    const through = behind[place]! + lengthOf(place);
    for (const other of workload[place]!.after) behind[other] = Math.max(behind[other]!, through);
  }
  return behind;
}

function dependentsOf(workload: Workload): readonly (readonly number[])[] {
  const dependents: number[][] = workload.map(() => []);
  for (const [place, { after }] of workload.entries())
    for (const other of after) dependents[other]!.push(place);
  return dependents;
}

const placesOf = (workload: Workload) => workload.map((_, place) => place);
