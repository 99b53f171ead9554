/** Reads what a turn cost from an ACP agent's report, in any of three shapes; undefined if it reported nothing. */
import type { Spent } from "../../../core/job.ts";
import { fields, type LooseFields } from "../../../text/json.ts";
import { amount } from "./loose.ts";

/**
 * `bills`: the results of the session's prompts, with `usage` or `_meta.quota.token_count`. `cost`: of the whole
 * session, from its last update.
 */
export function spentIn(bills: readonly LooseFields[], cost: number | undefined): Spent | undefined {
  const counts = bills.map(tokensIn).filter((count) => count !== undefined);
  if (counts.length === 0 && cost === undefined) return undefined;
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  return cost === undefined ? { tokens } : { tokens, microdollars: Math.round(cost * 1e6) };
}

function tokensIn(bill: LooseFields): number | undefined {
  const usage = fields(bill["usage"]);
  const quota = fields(fields(fields(bill["_meta"])["quota"])["token_count"]);
  return (
    amount(usage["totalTokens"]) ??
    sumOf(usage, ["inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens"]) ??
    sumOf(quota, ["input_tokens", "output_tokens"])
  );
}

function sumOf(counted: LooseFields, names: readonly string[]): number | undefined {
  const counts = names.map((name) => amount(counted[name])).filter((count) => count !== undefined);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

/**
 * The session's cost so far, in dollars. Other currencies are not converted; zero means that the agent does not
 * know the price.
 */
export function costIn(update: LooseFields): number | undefined {
  const cost = fields(update["cost"]);
  return cost["currency"] === "USD" ? amount(cost["amount"]) || undefined : undefined;
}
