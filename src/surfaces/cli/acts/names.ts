/** What are the branches and files of a run called? Said by its record, not by today's configuration. */
import type { RunRecord } from "../../../ports/runs.ts";
import type { Budget } from "../spent-text.ts";

/** What the names of its branches begin with. */
export function prefixOf({ settings }: RunRecord): string {
  const { branchPrefix } = Object(settings) as { branchPrefix?: unknown };
  return typeof branchPrefix === "string" ? branchPrefix : "skein/";
}

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
