/** Tests the prices of models: the table, caches, unknown prices, the user's own prices. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { openPrices, PRICE_TABLE } from "./prices.ts";

const MILLION = 1_000_000;
const use = (input: number, output: number, cacheRead = 0, cacheWrite = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

describe("prices", () => {
  it("are those of the table, with caches counted apart", async () => {
    const prices = await openPrices({});
    const sonnet = { provider: "anthropic", model: "claude-sonnet-4-5" };
    assert.equal(prices.cost(sonnet, use(100_000, 10_000)), 300_000 + 150_000);
    // Dollars per million tokens: 3 for input, 0.30 from the cache, 3.75 into it.
    assert.equal(prices.cost(sonnet, use(100_000, 0, 50_000, 20_000)), 90_000 + 15_000 + 75_000);
    assert.equal(
      prices.cost({ provider: "openai", model: "gpt-5" }, use(100_000, 0, 40_000)),
      75_000 + 5_000,
    );
    assert.ok(prices.cost({ provider: "xai", model: "grok-4" }, use(1_000, 1_000)));
  });

  it("are unknown, not nothing, where nobody knows them", async () => {
    const prices = await openPrices({});
    const unknown = [
      "ollama/qwen3-coder",
      "lmstudio/x",
      "llama.cpp/x",
      "mine/gpt-5",
      "openai/no-such-model",
      "constructor/x",
    ];
    for (const name of unknown) {
      const [provider = "", model = ""] = name.split("/");
      assert.equal(prices.cost({ provider, model }, use(MILLION, MILLION)), undefined, name);
    }
  });

  it("can be said otherwise, also of a model that is for nothing", async () => {
    const prices = await openPrices({
      "openai/gpt-5": { inputPerMillion: 1, outputPerMillion: 2, cacheReadPerMillion: 0.5 },
      "ollama/qwen3-coder": { inputPerMillion: 0, outputPerMillion: 0 },
    });
    assert.equal(
      prices.cost({ provider: "openai", model: "gpt-5" }, use(MILLION, MILLION, 400_000)),
      600_000 + 200_000 + 2_000_000,
    );
    assert.equal(prices.cost({ provider: "ollama", model: "qwen3-coder" }, use(MILLION, MILLION)), 0);
  });

  it("come with what a model can hold, where that is known", async () => {
    const prices = await openPrices({});
    assert.equal(prices.contextTokens({ provider: "anthropic", model: "claude-sonnet-4-5" }), 200_000);
    assert.equal(prices.contextTokens({ provider: "mine", model: "x" }), undefined);
  });

  it("are of the version that is installed", () => {
    const file = new URL("../../../node_modules/@pydantic/genai-prices/package.json", import.meta.url);
    assert.equal(PRICE_TABLE.version, JSON.parse(readFileSync(file, "utf8")).version);
  });
});
