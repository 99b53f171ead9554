/** Computes a task's rank when it is made: a smaller rank goes first, then the older task. */
import { OrderedDag } from "../../graph/dag.ts";
import type { TaskId } from "../task.ts";
import type { Policy } from "./policy.ts";

/** Before every ordinary task: nothing lands while the target is red. */
export const REPAIR_RANK = 0.5;

type Ranked = { readonly priority: number; readonly after: readonly TaskId[] };

export const ranksOf = (
  ids: readonly TaskId[],
  specs: readonly Ranked[],
  order: Policy["order"],
): readonly number[] =>
  order === "priority" ? specs.map((spec) => spec.priority) : byLongestPath(ids, specs);

/**
 * Among tasks of one priority, the one with the longest chain of waiting tasks goes first, because it decides when all
 * is done.
 */
function byLongestPath(ids: readonly TaskId[], specs: readonly Ranked[]): readonly number[] {
  const at = new Map<string, number>(ids.map((id, i) => [id, i]));
  const dag = new OrderedDag();
  for (const [i, id] of ids.entries()) dag.add(id, { after: specs[i]!.after.filter((d) => at.has(d)) });
  const behind = new Array<number>(ids.length).fill(0);
  for (const id of dag.order().toReversed()) {
    const i = at.get(id)!;
    for (const dependency of specs[i]!.after) {
      const j = at.get(dependency);
      if (j !== undefined) behind[j] = Math.max(behind[j]!, behind[i]! + 1);
    }
  }
  // Below 1, so that it never outweighs a priority.
  return specs.map((spec, i) => spec.priority - (0.4 * behind[i]!) / (behind[i]! + 1));
}
