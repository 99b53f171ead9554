/** What are the branches and files of a run called? Said by its record, not by today's configuration. */
import type { RunRecord } from "../../../ports/runs.ts";

/** What the names of its branches begin with. */
export function prefixOf({ settings }: RunRecord): string {
  const { branchPrefix } = Object(settings) as { branchPrefix?: unknown };
  return typeof branchPrefix === "string" ? branchPrefix : "skein/";
}

/** With `--planner none` one worker takes the whole goal. */
export const hasPlanner = ({ settings }: RunRecord): boolean =>
  (Object(settings) as { planner?: unknown }).planner !== "none";
