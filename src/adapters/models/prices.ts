/** Prices of models, from a bundled table of public prices and from the user's own settings. */

import type { PriceOverride, PriceOverrides } from "../../ports/agent-looks.ts";

/** `input` includes tokens that were read from a cache or written to one. */
export type TokenUse = {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
};

export type Prices = {
  /** In microdollars; undefined if the price is unknown, which is not the same as free. */
  cost(model: ModelName, use: TokenUse): number | undefined;
  /** How many tokens one call may hold; undefined if unknown. */
  contextTokens(model: ModelName): number | undefined;
};

export type ModelName = { readonly provider: string; readonly model: string };

/** Prices that changed after this date are not in the table. */
export const PRICE_TABLE = {
  package: "@pydantic/genai-prices",
  version: "0.1.8",
  date: "2026-09-23",
} as const;

/** Loads the table, which takes 90 ms. Nothing is fetched. */
export async function openPrices(overrides: PriceOverrides): Promise<Prices> {
  const table = await import("@pydantic/genai-prices");
  const find = ({ provider, model }: ModelName, use: TokenUse) => {
    if (!PRICED.has(provider)) return undefined;
    const providerId = provider === "xai" ? "x-ai" : provider;
    try {
      return table.calcPrice(tableUse(use), model, { providerId }) ?? undefined;
    } catch {
      return undefined; // The table has no price for this kind of use.
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

/** Local servers have no price. */
const PRICED: ReadonlySet<string> = new Set([
  ...["anthropic", "openai", "google", "openrouter", "groq"],
  ...["deepseek", "mistral", "xai", "together", "fireworks"],
]);

const tableUse = ({ input, cacheRead, cacheWrite, output }: TokenUse) => ({
  input_tokens: input,
  cache_read_tokens: cacheRead,
  cache_write_tokens: cacheWrite,
  output_tokens: output,
});

function overridden(price: PriceOverride, { input, cacheRead, cacheWrite, output }: TokenUse): number {
  const { inputPerMillion, outputPerMillion } = price;
  const { cacheReadPerMillion = inputPerMillion, cacheWritePerMillion = inputPerMillion } = price;
  // Dollars for a million tokens are microdollars for one token.
  return Math.round(
    (input - cacheRead - cacheWrite) * inputPerMillion +
      cacheRead * cacheReadPerMillion +
      cacheWrite * cacheWritePerMillion +
      output * outputPerMillion,
  );
}
