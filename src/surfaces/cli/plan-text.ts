/** How does a plan look on a terminal? Waves side by side as far as there is room, then every task in a table. */
import type { ExecutionPlan } from "../../planning/plan.ts";
import { harmless } from "./words.ts";

export type PlanPage = {
  /** Of a terminal; without, one wave after the other and no line is broken. */
  readonly columns?: number;
  readonly hasColours: boolean;
  /** Where the plan was written, if it was. */
  readonly file?: string;
  /** How skein is called. */
  readonly command?: string;
};

export function planText(plan: ExecutionPlan, _page: PlanPage): readonly string[] {
  return [harmless(plan.goal)];
}
