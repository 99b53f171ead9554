/** Reads settings from a run's own record, whatever is configured today. */
import type { RunRecord } from "../../ports/runs.ts";

/** False for `--planner none`, where one worker takes the whole goal. */
export const hasPlanner = ({ settings }: RunRecord): boolean =>
  (Object(settings) as { planner?: unknown }).planner !== "none";

/** How many workers the run may have at once. */
export function workersOf({ settings }: RunRecord): { readonly maxWorkers?: number } {
  const { workers } = Object(settings) as { workers?: unknown };
  return typeof workers === "number" ? { maxWorkers: workers } : {};
}
