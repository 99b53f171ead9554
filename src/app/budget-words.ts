/** Finds budgets in money and budgets that are too small for a single job, and says what helps. */
import type { Config } from "../config/schema.ts";

/** The first budget in money that is set. */
export function dollarsKey({
  budget,
}: {
  readonly budget: {
    readonly dollars?: number | undefined;
    readonly task: { readonly dollars?: number | undefined };
    readonly subtree: { readonly dollars?: number | undefined };
  };
}): string | undefined {
  if (budget.dollars !== undefined) return "budget.dollars";
  if (budget.subtree.dollars !== undefined) return "budget.subtree.dollars";
  return budget.task.dollars === undefined ? undefined : "budget.task.dollars";
}

export const PRICE_WAYS =
  "set budget.tokens as well, or set the price: prices: { provider/model: { input: …, output: … } }";

/** The run's budgets that are too small for a single job: nothing would start. */
export function tooSmall({ budget }: Pick<Config, "budget">): readonly string[] {
  return (["tokens", "dollars"] as const).flatMap((unit) => {
    const limit = budget[unit];
    const reserve = budget.reserve[unit];
    if (limit === undefined || limit * (1 - budget.landingShare) >= reserve) return [];
    return [
      `budget.${unit}=${limit} is too little for a single job, so nothing could start: each job reserves ${reserve} ` +
        `(budget.reserve.${unit}), and a part is kept for landing (budget.landingShare)`,
    ];
  });
}
