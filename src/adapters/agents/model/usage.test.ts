/** Tests what a model's turn costs: as the provider reports it, with caches, and as it is set aside before a call. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { workAsk } from "../../../../test/contracts/agent.ts";
import { modelTurns } from "../../../../test/support/model-turns.ts";
import { type Model, openModel } from "../../models/providers.ts";

const NEVER = new AbortController().signal;
const HANDOFF = { status: "complete", summary: "made it" };
const usage = { input: 1_000, output: 100, cached: 400 };

describe("what a turn cost, as the provider counts it", () => {
  const cases = [
    { wire: "openai-chat", model: "gpt-5", provider: "mine", microdollars: undefined },
    // Dollars per million tokens: 1.25 for input, 0.125 from the cache, 10 for output.
    { wire: "openai-responses", model: "gpt-5", provider: "openai", microdollars: 750 + 50 + 1_000 },
    // Dollars per million tokens: 3 for input, 0.30 from the cache, 15 for output.
    {
      wire: "anthropic",
      model: "claude-sonnet-4-5",
      provider: "anthropic",
      microdollars: 1_800 + 120 + 1_500,
    },
  ] as const;
  for (const { wire, model, provider, microdollars } of cases)
    it(`is right to the token and the microdollar, with a cache, on the wire ${wire}`, async () => {
      const answer = () => ({ tools: [{ name: "handoff", input: HANDOFF }], usage });
      await using turns = await modelTurns(answer, { wire, model });
      const { spent } = await turns.agent.turn(workAsk(turns.folder), NEVER);
      assert.deepEqual(spent, {
        tokens: 1_100,
        ...(microdollars === undefined ? {} : { microdollars }),
        turn: {
          model: `${provider}/${model}`,
          calls: 1,
          toolCalls: 1,
          inputTokens: 1_000,
          outputTokens: 100,
          stop: "tool-calls",
        },
      });
      const [settled] = turns.governor.settled;
      assert.deepEqual(settled, { tokens: 1_100, ...(microdollars === undefined ? {} : { microdollars }) });
      const { most } = turns.governor.admitted[0]!;
      assert.equal(most.microdollars !== undefined, microdollars !== undefined);
    });

  it("is kept low and private where the provider lets us: the prompt in Anthropic's cache, nothing kept at OpenAI", async () => {
    const bodyOn = async (wire: "anthropic" | "openai-responses") => {
      await using turns = await modelTurns(() => ({ text: '{"status": "complete"}' }), { wire });
      await turns.agent.turn(workAsk(turns.folder), NEVER);
      return JSON.stringify(turns.server.calls[0]?.body);
    };
    assert.equal((await bodyOn("anthropic")).match(/"cache_control":\{"type":"ephemeral"\}/g)?.length, 2);
    assert.match(await bodyOn("openai-responses"), /"store":false/);
  });

  it("is what a person says that it is", async () => {
    const prices = { "mine/m": { inputPerMillion: 1, outputPerMillion: 10, cacheReadPerMillion: 0.5 } };
    await using turns = await modelTurns(() => ({ text: '{"status": "complete"}', usage }), { prices });
    const { spent } = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.equal(spent?.microdollars, 600 + 200 + 1_000);
  });

  it("is never less than nothing, also if what came from a cache is not in the sum", async () => {
    const prices = { "mine/m": { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3 } };
    const beside = { input: 10, output: 5, cached: 1_000 };
    await using turns = await modelTurns(() => ({ text: '{"status": "complete"}', usage: beside }), {
      prices,
    });
    const { spent } = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.deepEqual([spent?.tokens, spent?.microdollars], [1_015, 30 + 300 + 75]);
  });

  it("is unknown if the server says what cannot be", async () => {
    for (const odd of [
      { input: 0, output: 0 },
      { input: -5, output: 5 },
      { input: 5, output: -5 },
    ]) {
      await using turns = await modelTurns(() => ({ text: '{"status": "complete"}', usage: odd }));
      const { spent } = await turns.agent.turn(workAsk(turns.folder), NEVER);
      assert.deepEqual([spent?.tokens, spent?.unaccounted?.calls], [0, 1], JSON.stringify(odd));
    }
  });

  it("is set aside before, more than it comes to with any tokeniser, and with the longest answer", async () => {
    // Upper bounds of tokens a character: o200k and cl100k make 0.3 of English, 1.2 of Chinese.
    for (const [text, most] of [
      ["plain words of a task ", 0.35],
      ["中文的任务描述", 1.3],
    ] as const) {
      await using turns = await modelTurns(() => ({ text: '{"status": "complete"}' }));
      const description = text.repeat(400);
      const { brief } = workAsk("");
      await turns.agent.turn(workAsk(turns.folder, { spec: { ...brief.spec, description } }), NEVER);
      assert.ok(turns.governor.admitted[0]!.most.tokens >= description.length * most + 8_192, text);
    }
  });

  it("counts a model's thoughts as Google says them, apart from what it said", async () => {
    const use = {
      promptTokenCount: 1_000,
      candidatesTokenCount: 60,
      thoughtsTokenCount: 40,
      cachedContentTokenCount: 400,
      totalTokenCount: 1_100,
    };
    const call = { functionCall: { name: "handoff", args: HANDOFF } };
    const chunk = {
      candidates: [{ content: { role: "model", parts: [call] }, finishReason: "STOP" }],
      usageMetadata: use,
    };
    await using google = await serving(`data: ${JSON.stringify(chunk)}\n\n`);
    const model = await openModel(
      { provider: "google", model: "gemini-2.5-pro", baseUrl: `${google.url}/v1beta` },
      { GEMINI_API_KEY: "k" },
    );
    await using turns = await modelTurns(() => ({ text: "" }), { models: async () => [model as Model] });
    const said = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.equal(said.is === "said" && said.text, JSON.stringify(HANDOFF));
    assert.equal(said.spent?.tokens, 1_100);
    // Dollars per million tokens: 1.25 for input, 0.125 from the cache, 10 for output and reasoning.
    assert.equal(said.spent?.microdollars, 750 + 50 + 1_000);
  });

  it("is unknown, and charged as it was set aside, if the server does not say", async () => {
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const body = `${chunk({ role: "assistant", content: '{"status": "complete"}' }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
    await using server = await serving(body);
    const model = await openModel({ provider: "mine", model: "m", baseUrl: server.url }, {});
    await using turns = await modelTurns(() => ({ text: "" }), { models: async () => [model as Model] });
    const { spent } = await turns.agent.turn(workAsk(turns.folder), NEVER);
    assert.deepEqual([spent?.tokens, spent?.unaccounted?.calls], [0, 1]);
    assert.deepEqual(turns.governor.settled, ["unknown"]);
  });
});

async function serving(body: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: close };
}
