/** What a run's own record says of it, whatever is configured today. */
import type { RunRecord } from "../../ports/runs.ts";

/** With `--planner none` one worker takes the whole goal. */
export const hasPlanner = ({ settings }: RunRecord): boolean =>
  (Object(settings) as { planner?: unknown }).planner !== "none";

/** How many workers the run may have at once. */
export function workersOf({ settings }: RunRecord): { readonly maxWorkers?: number } {
  const { workers } = Object(settings) as { workers?: unknown };
  return typeof workers === "number" ? { maxWorkers: workers } : {};
}
