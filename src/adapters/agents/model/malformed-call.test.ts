/** Tests tool calls that the provider itself cannot read: the answer is asked for again, a few times. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { failureOf, textOf, workAsk } from "../../../../test/contracts/agent.ts";
import { modelTurns } from "../../../../test/support/model-turns.ts";
import { type Model, openModel } from "../../models/providers.ts";

const HANDOFF = { status: "complete", summary: "made it" };
const MALFORMED = { finishReason: "MALFORMED_FUNCTION_CALL" };
const HANDED_OFF = {
  content: { role: "model", parts: [{ functionCall: { name: "handoff", args: HANDOFF } }] },
  finishReason: "STOP",
};

describe("a call of a tool that its own provider cannot read", () => {
  it("is asked for again: a long turn is not lost for it", async () => {
    await using google = await serving([MALFORMED, MALFORMED, HANDED_OFF]);
    const said = await turnAt(google.url);
    assert.deepEqual(JSON.parse(textOf(said)), HANDOFF);
    assert.match(google.asked[1]!, /a tool call that could not be read/);
    assert.deepEqual(said.spent?.tokens, 3 * 110);
  });

  it("ends the turn if it comes again and again", async () => {
    await using google = await serving([MALFORMED]);
    assert.match(failureOf(await turnAt(google.url)).message, /stopped the answer \(error\)/);
    assert.equal(google.asked.length, 3);
  });
});

async function turnAt(url: string) {
  const spec = { provider: "google", model: "gemini-2.5-pro", baseUrl: `${url}/v1beta` };
  const model = await openModel(spec, { GEMINI_API_KEY: "k" });
  await using turns = await modelTurns(() => ({ text: "" }), { models: async () => [model as Model] });
  return await turns.agent.turn(workAsk(turns.folder), new AbortController().signal); // Before the turns are closed.
}

/** Serves these answers one after the other, and the last one repeatedly. */
async function serving(candidates: readonly object[]) {
  const asked: string[] = [];
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };
  const server = createServer(async (request, response) => {
    const candidate = candidates[Math.min(asked.length, candidates.length - 1)];
    asked.push((await request.setEncoding("utf8").toArray()).join(""));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify({ candidates: [candidate], usageMetadata })}\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, asked, [Symbol.asyncDispose]: close };
}
