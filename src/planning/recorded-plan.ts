/** Makes a planner of the plan in a run's record, which answers with that plan's tasks. */
import path from "node:path";
import { type Failure, failure } from "../core/failure.ts";
import type { RunHome } from "../ports/runs.ts";
import { readValue } from "./files/read-plan.ts";
import { fixedPlanner } from "./to-answer.ts";

type RecordedPlan = {
  readonly planner?: ReturnType<typeof fixedPlanner>;
  /** True if some of its tasks are checked by a command. */
  readonly hasCriteria?: boolean;
  /** Why the plan cannot be followed. */
  readonly problem?: Failure;
};

/** Empty for a run without a plan. */
export function recordedPlan(
  { record, folder }: Pick<RunHome, "record" | "folder">,
  scratchpad: string,
): RecordedPlan {
  if (record.plan === undefined) return {};
  const read = readValue(record.plan, { scratchpad });
  if (read.is === "plan")
    return {
      planner: fixedPlanner(read.plan),
      hasCriteria: read.plan.tasks.some(({ success_criterion }) => success_criterion !== undefined),
    };
  const [first] = read.problems;
  const where = path.join(folder, "run.json");
  const what = `${first?.place ?? ""} ${first?.message ?? ""}`.trim();
  const why = `the plan of run ${record.run} cannot be followed: ${where}: ${what}`;
  const next =
    "use the version of Skein that created the run, restore the file from a backup, or start a new run";
  return { problem: failure("repository", why, next) };
}
