/** Tests the settings that codex gets for a server in OPENAI_BASE_URL. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { knownAgent } from "./known-agents.ts";

describe("codex, where OPENAI_BASE_URL is set,", () => {
  const told = (passed: Readonly<Record<string, string>>) => {
    const { CODEX_CONFIG } = knownAgent("codex")?.tells?.(passed) ?? {};
    return CODEX_CONFIG === undefined ? undefined : JSON.parse(CODEX_CONFIG);
  };
  const OPENAI_BASE_URL = "http://127.0.0.1:8080/v1";

  it("is told of the server in its own words, and of the variable that holds the key", () => {
    const provider = { name: "OPENAI_BASE_URL", base_url: OPENAI_BASE_URL, wire_api: "responses" };
    assert.deepEqual(told({ OPENAI_BASE_URL, OPENAI_API_KEY: "k" }), {
      model_provider: "base-url",
      model_providers: { "base-url": { ...provider, env_key: "OPENAI_API_KEY" } },
    });
    assert.equal(
      told({ OPENAI_BASE_URL, OPENAI_API_KEY: "k", CODEX_API_KEY: "c" }).model_providers["base-url"].env_key,
      "CODEX_API_KEY",
    );
    assert.deepEqual(told({ OPENAI_BASE_URL }).model_providers["base-url"], provider);
  });

  it("is told nothing where there is no such server, or the user has configured it", () => {
    assert.equal(told({ OPENAI_API_KEY: "k" }), undefined);
    assert.equal(told({ OPENAI_BASE_URL: "" }), undefined);
    assert.equal(told({ OPENAI_BASE_URL, CODEX_CONFIG: "{}" }), undefined);
  });
});
