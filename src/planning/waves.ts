/** Computes the critical path and each task's wave: 0 without dependencies, else one more than the latest of them. */
import { OrderedDag } from "../graph/dag.ts";
import type { PlanTask } from "./plan.ts";

export type Waited = { readonly id: string; readonly blockedBy: readonly string[] };

export type Waves =
  | {
      readonly is: "waves";
      /** In topological order. */
      readonly byId: ReadonlyMap<string, number>;
      readonly count: number;
    }
  /** Each id waits for the next, and the last for the first. */
  | { readonly is: "cycle"; readonly ids: readonly string[] };

/** Unknown dependencies count as done, and repeated ids once: the lint reports them. */
export function wavesOf(tasks: readonly Waited[]): Waves {
  const dag = new OrderedDag();
  for (const { id, blockedBy } of tasks) if (!dag.has(id)) dag.add(id, { after: blockedBy });
  const ids = dag.cycle();
  if (ids !== undefined) return { is: "cycle", ids };
  const found = new Map<string, number>();
  for (const id of dag.order()) {
    const before = dag.dependencies(id).map((other) => found.get(other) ?? -1);
    found.set(id, 1 + before.reduce((latest, wave) => Math.max(latest, wave), -1));
  }
  const byId = new Map([...found].sort(([, a], [, b]) => a - b));
  return { is: "waves", byId, count: 1 + ([...byId.values()].at(-1) ?? -1) };
}

/** For a task without an estimate. */
const DEFAULT_MINUTES = 1;

type Timed = Pick<PlanTask, "id" | "blockedBy" | "estimate">;
type Reached = { readonly minutes: number; readonly before: string | undefined };

/**
 * The ids of the critical path from first to last; of equal paths the one whose tasks come first in the plan. Unknown
 * dependencies count as done. Empty if the tasks wait for each other in a cycle. Takes time in proportion to tasks and
 * dependencies.
 */
export function criticalPath({ tasks }: { readonly tasks: readonly Timed[] }): readonly string[] {
  const byId = new Map<string, Timed>();
  for (const task of tasks) if (!byId.has(task.id)) byId.set(task.id, task);
  const place = new Map([...byId.keys()].map((id, index) => [id, index]));
  const waves = wavesOf(tasks);
  if (waves.is === "cycle") return [];

  const reached = new Map<string, Reached>();
  /** The task that ends later; of equal ones the one that comes first in the plan. */
  const later = (a: string | undefined, b: string): string => {
    if (a === undefined) return b;
    const ahead = reached.get(b)!.minutes - reached.get(a)!.minutes;
    return ahead > 0 || (ahead === 0 && place.get(b)! < place.get(a)!) ? b : a;
  };
  for (const id of waves.byId.keys()) {
    const task = byId.get(id)!;
    let before: string | undefined;
    for (const one of task.blockedBy) if (byId.has(one)) before = later(before, one);
    const since = before === undefined ? 0 : reached.get(before)!.minutes;
    reached.set(id, { minutes: since + minutesOf(task), before });
  }
  let last: string | undefined;
  for (const id of byId.keys()) last = later(last, id);
  const path: string[] = [];
  for (let id = last; id !== undefined; id = reached.get(id)!.before) path.push(id);
  return path.reverse();
}

function minutesOf({ estimate }: Timed): number {
  const minutes = estimate?.minutes ?? DEFAULT_MINUTES;
  return Number.isFinite(minutes) && minutes >= 0 ? minutes : DEFAULT_MINUTES;
}
