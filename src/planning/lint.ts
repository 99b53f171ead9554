/** Is a plan a good one? What would make it fail, and what would make it slow. */
import type { PlanProblem } from "./place.ts";
import type { ExecutionPlan } from "./plan.ts";

export type Finding = PlanProblem & { readonly level: "error" | "warning" };

/** What is known besides the plan. What is not given is not looked at. */
export type LintFacts = {
  readonly agents?: readonly { readonly name: string; readonly isReadOnly: boolean }[];
  /** Paths of the repository's files. */
  readonly files?: readonly string[];
};

/** Errors first, each in the order of the plan. With an error the plan must not be run. */
export function lintPlan(_plan: ExecutionPlan, _facts: LintFacts = {}): readonly Finding[] {
  return [];
}
