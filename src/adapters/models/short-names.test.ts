/** Tests which model a specialist's short name means. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openPrices } from "./prices.ts";
import { shortName } from "./providers.ts";

const usual = { provider: "anthropic", model: "claude-sonnet-4-5", keyVariable: "MY_KEY" };

describe("a model by a short name", () => {
  it("is of the provider and the account that are used anyway", () => {
    assert.deepEqual(shortName("Haiku", usual), { ...usual, model: "claude-haiku-4-5" });
  });

  it("is none where nothing is meant, or nobody has it", () => {
    for (const name of ["inherit", "", "gpt-5", "constructor"])
      assert.equal(shortName(name, usual), undefined, name);
    assert.equal(shortName("opus", { provider: "ollama", model: "x" }), undefined);
  });

  it("is one that the table knows", async () => {
    const prices = await openPrices({});
    for (const provider of ["anthropic", "openrouter"])
      for (const name of ["opus", "sonnet", "haiku"]) {
        const spec = shortName(name, { ...usual, provider })!;
        assert.ok(
          prices.cost(spec, { input: 1_000, output: 1_000, cacheRead: 0, cacheWrite: 0 }),
          spec.model,
        );
      }
  });
});
