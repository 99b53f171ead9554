/** What does a plan file say? Read from any text, in our format or one like it, with every problem at once. */
import type { PlanProblem } from "./place.ts";
import type { ExecutionPlan } from "./plan.ts";

export type { PlanProblem } from "./place.ts";

export type ReadPlanOptions = {
  /** Absolute paths in it are a plan's output files, too. */
  readonly scratchpad?: string;
  /** Where the plan does not say how many agents work at once. */
  readonly maxConcurrent?: number;
  /** Names of agents that change nothing: without a scope, their tasks deliver reports. */
  readonly readOnlyAgents?: readonly string[];
};

export type ReadPlan =
  /** `notes`: what was derived, mapped or not read, in words for people. */
  | { readonly is: "plan"; readonly plan: ExecutionPlan; readonly notes: readonly string[] }
  | { readonly is: "broken"; readonly problems: readonly PlanProblem[] };

/** Never throws, and takes time in proportion to the text. Whether the plan is a good one is for `lintPlan` to say. */
export function readPlan(_text: string, _options: ReadPlanOptions = {}): ReadPlan {
  return { is: "broken", problems: [{ place: "", message: "plan files cannot be read yet" }] };
}
