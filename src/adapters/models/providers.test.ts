/** Tests how models are opened by name: keys, addresses, prices, and each provider's library. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startModelServer } from "../../../test/support/model-server/model-server.ts";
import type { ModelSpec } from "../../core/model-spec.ts";
import { keyProblem, type Model, openModel } from "./providers.ts";

const opened = async (
  spec: ModelSpec,
  environment: Readonly<Record<string, string>> = {},
): Promise<Model> => {
  const model = await openModel(spec, environment);
  if ("failure" in model) throw new Error(model.failure.message);
  return model;
};
const PROMPT = [{ role: "user" as const, content: [{ type: "text" as const, text: "hello" }] }];

describe("a model by its name", () => {
  it("needs a key, and says which variable to set", async () => {
    const model = await openModel({ provider: "anthropic", model: "claude-sonnet-4-5" }, {});
    assert.ok("failure" in model);
    assert.equal(model.failure.kind, "authentication");
    assert.equal(model.failure.account, "anthropic");
    assert.match(`${model.failure.message} ${model.failure.next}`, /ANTHROPIC_API_KEY/);
  });

  it("takes its key from any variable of its provider, or from the one that is named", () => {
    const google = { provider: "google", model: "gemini-2.5-pro" };
    assert.equal(keyProblem(google, { GOOGLE_GENERATIVE_AI_API_KEY: "x" }), undefined);
    assert.match(
      keyProblem({ ...google, keyVariable: "MINE" }, { GEMINI_API_KEY: "x" })?.message ?? "",
      /MINE/,
    );
    assert.match(keyProblem(google, { GEMINI_API_KEY: " " })?.message ?? "", /GEMINI_API_KEY/);
  });

  it("needs none on this machine", async () => {
    for (const provider of ["ollama", "lmstudio", "llama.cpp"]) {
      const model = await opened({ provider, model: "qwen" });
      assert.deepEqual([model.id, model.isPriced, model.contextTokens], [`${provider}/qwen`, false, 32_000]);
    }
  });

  it("needs a place if its provider is not known", async () => {
    const model = await openModel({ provider: "mine", model: "x" }, {});
    assert.match("failure" in model ? `${model.failure.message} ${model.failure.next}` : "", /mine.*baseUrl/);
  });

  it("knows what it costs and holds", async () => {
    const model = await opened(
      { provider: "anthropic", model: "claude-sonnet-4-5" },
      { ANTHROPIC_API_KEY: "k" },
    );
    assert.deepEqual(
      [model.isPriced, model.contextTokens, model.maxOutputTokens, model.account],
      [true, 200_000, 16_384, "anthropic"],
    );
    assert.equal(model.cost({ input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 }), 4_500);
  });

  const KEYS = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "DEEPSEEK_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "TOGETHER_API_KEY",
    "FIREWORKS_API_KEY",
  ];
  const all = Object.fromEntries(KEYS.map((key) => [key, "k"]));
  for (const provider of [
    "anthropic",
    "openai",
    "google",
    "openrouter",
    "groq",
    "deepseek",
    "mistral",
    "xai",
    "together",
    "fireworks",
    "ollama",
    "lmstudio",
    "llama.cpp",
  ])
    it(`can be opened: ${provider}`, async () => {
      const model = await (await opened({ provider, model: "x" }, all)).open();
      assert.equal(model.specificationVersion, "v4");
      assert.equal(model.modelId, "x");
    });

  for (const [speaks, wire] of [
    ["openai", "openai-chat"],
    ["anthropic", "anthropic"],
    [undefined, "openai-chat"],
  ] as const)
    it(`is called at a place of one's own, which speaks ${speaks ?? "what most do"}, with nobody else's key`, async () => {
      await using server = await startModelServer({ answer: () => ({ text: "hi" }) });
      const before = process.env["ANTHROPIC_API_KEY"];
      process.env["ANTHROPIC_API_KEY"] = "somebody else's";
      try {
        for (const baseUrl of [server.url, `${server.url}/v1`, `${server.url}/v1/`]) {
          const spec = { provider: "mine", model: "x", baseUrl, ...(speaks ? { speaks } : {}) };
          const model = await (await opened(spec)).open();
          await model.doGenerate({ prompt: PROMPT, maxOutputTokens: 10 });
        }
      } finally {
        if (before === undefined) delete process.env["ANTHROPIC_API_KEY"];
        else process.env["ANTHROPIC_API_KEY"] = before;
      }
      assert.deepEqual(
        server.calls.map((call) => call.wire),
        [wire, wire, wire],
      );
      for (const { key } of server.calls) assert.ok(key === undefined || key === "none", key);
    });
});
