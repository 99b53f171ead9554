/** What do a model's tokens cost? From a kept table of public prices, and from what a person says instead. */

/** In dollars for a million tokens. What is not said of caches costs as much as other input. */
export type PriceOverride = {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  readonly cacheReadPerMillion?: number;
  readonly cacheWritePerMillion?: number;
};

/** By "provider/model". */
export type PriceOverrides = Readonly<Record<string, PriceOverride>>;

/** `input` is all of it, also what was read from a cache or written to one. */
export type TokenUse = {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
};

export type Prices = {
  /** In microdollars; undefined if nobody knows the price, which is not the same as nothing. */
  cost(model: ModelName, use: TokenUse): number | undefined;
  /** How much one call may hold; undefined if it is not known. */
  contextTokens(model: ModelName): number | undefined;
};

export type ModelName = { readonly provider: string; readonly model: string };

/** The table, and when it was made: prices that changed since are not in it. */
export const PRICE_TABLE = {
  package: "@pydantic/genai-prices",
  version: "0.1.8",
  date: "2026-09-23",
} as const;

/** The table is loaded here, not before: that takes 90 ms. Nothing is fetched. */
export async function openPrices(overrides: PriceOverrides): Promise<Prices> {
  const table = await import("@pydantic/genai-prices");
  const find = ({ provider, model }: ModelName, use: TokenUse) => {
    const providerId = Object.hasOwn(TABLE_NAMES, provider) ? TABLE_NAMES[provider] : undefined;
    if (providerId === undefined) return undefined;
    try {
      return table.calcPrice(tableUse(use), model, { providerId }) ?? undefined;
    } catch {
      return undefined; // The table has no price for this kind of use: then it is not known.
    }
  };
  return {
    cost(name, use) {
      const key = `${name.provider}/${name.model}`;
      if (Object.hasOwn(overrides, key)) return overridden(overrides[key]!, use);
      const found = find(name, use);
      return found && Math.round(found.total_price * 1_000_000);
    },
    contextTokens: (name) =>
      find(name, { input: 1, cacheRead: 0, cacheWrite: 0, output: 1 })?.model.context_window,
  };
}

/** Servers of one's own have no price there: theirs is the electricity. */
const TABLE_NAMES: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
  openrouter: "openrouter",
  groq: "groq",
  deepseek: "deepseek",
  mistral: "mistral",
  xai: "x-ai",
  together: "together",
  fireworks: "fireworks",
};

const tableUse = ({ input, cacheRead, cacheWrite, output }: TokenUse) => ({
  input_tokens: input,
  cache_read_tokens: cacheRead,
  cache_write_tokens: cacheWrite,
  output_tokens: output,
});

function overridden(price: PriceOverride, { input, cacheRead, cacheWrite, output }: TokenUse): number {
  const { inputPerMillion, outputPerMillion } = price;
  const { cacheReadPerMillion = inputPerMillion, cacheWritePerMillion = inputPerMillion } = price;
  // Dollars for a million tokens are microdollars for one.
  return Math.round(
    (input - cacheRead - cacheWrite) * inputPerMillion +
      cacheRead * cacheReadPerMillion +
      cacheWrite * cacheWritePerMillion +
      output * outputPerMillion,
  );
}
