/** What did a turn cost, by what the agent said of it? Three shapes or none; what was not said is not known. */
import type { Spent } from "../../../core/job.ts";
import { amount, type Fields, fields } from "./loose.ts";

/**
 * `bills`: what each prompt of the session ended with, as `usage` or as `_meta.quota.token_count`. `cost`: the last
 * that an update said, for the whole session.
 */
export function spentIn(bills: readonly Fields[], cost: number | undefined): Spent | undefined {
  const counts = bills.map(tokensIn).filter((count) => count !== undefined);
  if (counts.length === 0 && cost === undefined) return undefined;
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  return cost === undefined ? { tokens } : { tokens, microdollars: Math.round(cost * 1e6) };
}

function tokensIn(bill: Fields): number | undefined {
  const usage = fields(bill["usage"]);
  const quota = fields(fields(fields(bill["_meta"])["quota"])["token_count"]);
  return (
    amount(usage["totalTokens"]) ??
    sumOf(usage, ["inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens"]) ??
    sumOf(quota, ["input_tokens", "output_tokens"])
  );
}

function sumOf(counted: Fields, names: readonly string[]): number | undefined {
  const counts = names.map((name) => amount(counted[name])).filter((count) => count !== undefined);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

/**
 * In dollars; of an update that says what the session has cost so far. Other currencies are not converted, and nothing
 * is what agents say that do not know the price.
 */
export function costIn(update: Fields): number | undefined {
  const cost = fields(update["cost"]);
  return cost["currency"] === "USD" ? amount(cost["amount"]) || undefined : undefined;
}
