/** What has been used up? What jobs cost, in sum: each token once, whoever it was for. */
import type { Spent } from "./job.ts";

export type Used = {
  /** Exact: what was reported. */
  readonly tokens: number;
  readonly microdollars: number;
  /** Jobs whose price is not known, or not all of it: that money is not in the sum. */
  readonly unpriced: number;
  /** Calls that were cut off before they said what they cost, with what had been set aside for them. */
  readonly unaccounted: Unaccounted;
};

export type Unaccounted = { readonly calls: number; readonly tokens: number; readonly microdollars: number };

/** Shared by all that have cost nothing yet. */
export const NOTHING_USED: Used = Object.freeze({
  tokens: 0,
  microdollars: 0,
  unpriced: 0,
  unaccounted: Object.freeze({ calls: 0, tokens: 0, microdollars: 0 }),
});

export function withSpent(used: Used, { tokens, microdollars, unaccounted }: Spent): Used {
  const cut = used.unaccounted;
  const isPriced = microdollars !== undefined && (!unaccounted || unaccounted.microdollars !== undefined);
  return {
    tokens: used.tokens + tokens,
    microdollars: used.microdollars + (microdollars ?? 0),
    unpriced: used.unpriced + (isPriced ? 0 : 1),
    unaccounted: unaccounted
      ? {
          calls: cut.calls + unaccounted.calls,
          tokens: cut.tokens + unaccounted.tokens,
          microdollars: cut.microdollars + (unaccounted.microdollars ?? 0),
        }
      : cut,
  };
}
