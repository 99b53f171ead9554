/** Which budget is in money, and what helps where a price is not known? */

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
  "set budget.tokens as well, or say the price: prices: { provider/model: { input: …, output: … } }";
