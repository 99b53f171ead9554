/** Computes what is left of a run's budget. The reserves of calls that were cut off count as spent. */

import type { Used } from "../used.ts";
import { dollars as money } from "./labels.ts";

/** The run's whole budget, as configured. */
export type Budget = { readonly tokens?: number; readonly dollars?: number };

type BudgetLeft = { readonly tokens?: number; readonly microdollars?: number };

function budgetLeft({ spent }: { readonly spent: Used }, { tokens, dollars }: Budget): BudgetLeft {
  const { unaccounted } = spent;
  const left = (limit: number, used: number) => Math.max(0, limit - used);
  return {
    ...(tokens !== undefined && { tokens: left(tokens, spent.tokens + unaccounted.tokens) }),
    ...(dollars !== undefined && {
      microdollars: left(dollars * 1e6, spent.microdollars + unaccounted.microdollars),
    }),
  };
}

/** "budget left: 400 of 1,000 tokens"; nothing without a budget. */
export function budgetTexts(view: { readonly spent: Used }, budget: Budget): readonly string[] {
  const { tokens, microdollars } = budgetLeft(view, budget);
  const all = budget.tokens ?? 0;
  const parts = [
    ...(tokens === undefined
      ? []
      : [`${tokens.toLocaleString("en")} of ${all.toLocaleString("en")} ${all === 1 ? "token" : "tokens"}`]),
    ...(microdollars === undefined
      ? []
      : [`${money(microdollars)} of ${money((budget.dollars ?? 0) * 1e6)}`]),
  ];
  return parts.length === 0 ? [] : [`budget left: ${parts.join(", ")}`];
}

/** Reads the run's whole budget from its record without a schema, so that records of any version can be read. */
export function budgetOf({ settings }: { readonly settings?: unknown }): Budget {
  const { budget } = Object(settings) as { budget?: unknown };
  const { tokens, dollars } = Object(budget) as { tokens?: unknown; dollars?: unknown };
  return {
    ...(typeof tokens === "number" ? { tokens } : {}),
    ...(typeof dollars === "number" ? { dollars } : {}),
  };
}
