/** What a run's own record says of it, whatever is configured today. */
import type { Budget } from "../../core/view/budget-left.ts";
import type { RunRecord } from "../../ports/runs.ts";

/** With `--planner none` one worker takes the whole goal. */
export const hasPlanner = ({ settings }: RunRecord): boolean =>
  (Object(settings) as { planner?: unknown }).planner !== "none";

/** What the run may spend as a whole; as it was written, so that no schema is needed to read it. */
export function budgetOf({ settings }: RunRecord): Budget {
  const { budget } = Object(settings) as { budget?: unknown };
  const { tokens, dollars } = Object(budget) as { tokens?: unknown; dollars?: unknown };
  return {
    ...(typeof tokens === "number" ? { tokens } : {}),
    ...(typeof dollars === "number" ? { dollars } : {}),
  };
}

/** How many workers the run may have at once. */
export function workersOf({ settings }: RunRecord): { readonly maxWorkers?: number } {
  const { workers } = Object(settings) as { workers?: unknown };
  return typeof workers === "number" ? { maxWorkers: workers } : {};
}
