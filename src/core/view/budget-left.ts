/** What is left of the budget of a run? What calls may cost that were cut off counts as spent. */
import type { RunView } from "./view.ts";

/** As it is configured for the run as a whole. */
export type Budget = { readonly tokens?: number; readonly dollars?: number };

type BudgetLeft = { readonly tokens?: number; readonly microdollars?: number };

export function budgetLeft({ spent }: Pick<RunView, "spent">, { tokens, dollars }: Budget): BudgetLeft {
  const { unaccounted } = spent;
  const left = (limit: number, used: number) => Math.max(0, limit - used);
  return {
    ...(tokens !== undefined && { tokens: left(tokens, spent.tokens + unaccounted.tokens) }),
    ...(dollars !== undefined && {
      microdollars: left(dollars * 1e6, spent.microdollars + unaccounted.microdollars),
    }),
  };
}
