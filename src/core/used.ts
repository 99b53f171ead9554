/** Adds up what jobs cost, each token once. */

/** What a job cost. An unknown price is left out, never counted as zero. */
export type Spent = {
  readonly tokens: number;
  readonly microdollars?: number;
  /** Calls that were cut off before they reported a cost: their reserve is charged instead. */
  readonly unaccounted?: { readonly calls: number; readonly tokens: number; readonly microdollars?: number };
  readonly turn?: TurnTally;
};

/** One turn of an agent in numbers. Input tokens include those that were read from a cache or written to one. */
export type TurnTally = {
  readonly model: string;
  readonly calls: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Why the model's last answer ended: "stop", "length", "tool-calls", … */
  readonly stop: string;
};

export type Used = {
  /** Exact, as reported. */
  readonly tokens: number;
  readonly microdollars: number;
  /** Jobs whose price is unknown, wholly or in part: that money is missing in the sum. */
  readonly unpriced: number;
  /** Calls that were cut off before they reported a cost, with the sum of their reserves. */
  readonly unaccounted: Unaccounted;
};

export type Unaccounted = { readonly calls: number; readonly tokens: number; readonly microdollars: number };

/** Shared by all tasks that have cost nothing yet. */
export const NOTHING_USED: Used = Object.freeze({
  tokens: 0,
  microdollars: 0,
  unpriced: 0,
  unaccounted: Object.freeze({ calls: 0, tokens: 0, microdollars: 0 }),
});

export function withSpent(used: Used, { tokens, microdollars, unaccounted }: Spent): Used {
  const cut = used.unaccounted;
  const isKnown = microdollars !== undefined || (tokens === 0 && !unaccounted); // Zero tokens cost nothing.
  const isPriced = isKnown && (!unaccounted || unaccounted.microdollars !== undefined);
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

/** Adds two parts of one job. The price is known only if both are. */
export function addSpent(a: Spent, b: Spent): Spent {
  const { tokens, microdollars, unpriced, unaccounted } = withSpent(withSpent(NOTHING_USED, a), b);
  const price = (amount: number) => (unpriced > 0 ? {} : { microdollars: amount });
  const { calls, tokens: cut, microdollars: cutPrice } = unaccounted;
  return {
    ...{ tokens, ...price(microdollars), ...(a.turn && { turn: a.turn }) },
    ...(calls > 0 && { unaccounted: { calls, tokens: cut, ...price(cutPrice) } }),
  };
}

export const addUsed = (a: Used, b: Used): Used => ({
  tokens: a.tokens + b.tokens,
  microdollars: a.microdollars + b.microdollars,
  unpriced: a.unpriced + b.unpriced,
  unaccounted: {
    calls: a.unaccounted.calls + b.unaccounted.calls,
    tokens: a.unaccounted.tokens + b.unaccounted.tokens,
    microdollars: a.unaccounted.microdollars + b.unaccounted.microdollars,
  },
});
