/** Tests unusable answers of a provider: redirects, oversized answers, web pages, errors with status 200. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { it } from "node:test";
import { createGzip } from "node:zlib";
import { type CallProblem, problemOf } from "./errors.ts";
import { openModel } from "./providers.ts";

const KEY = "a-key-that-nobody-else-may-see";

async function serve(answer: http.RequestListener) {
  const server = http.createServer((request, response) => {
    request.resume();
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The problem of a call of this server, whose answer is read to the end. */
async function called(url: string, speaks: "openai" | "anthropic"): Promise<CallProblem | undefined> {
  const spec = { provider: "mine", model: "x", baseUrl: `${url}/v1`, speaks, keyVariable: "MINE" };
  const model = await openModel(spec, { MINE: KEY });
  assert.ok(!("failure" in model));
  try {
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hello" }] }];
    const { stream } = await (await model.open()).doStream({ prompt, maxOutputTokens: 10 });
    for await (const part of stream) if (part.type === "error") throw part.error;
    return undefined;
  } catch (thrown) {
    return problemOf(thrown, { account: "mine", model: "mine/x", now: 0 });
  }
}

const answering = (type: string, body: string, status = 200) =>
  serve((_request, response) => void response.writeHead(status, { "content-type": type }).end(body));

for (const speaks of ["openai", "anthropic"] as const) {
  it(`goes nowhere else, with the prompt or with the key (${speaks})`, async () => {
    const heard: unknown[] = [];
    await using other = await serve((request, response) => {
      heard.push(request.headers);
      response.end();
    });
    const location = `${other.url.replace("127.0.0.1", "localhost")}/v1/other?key=hidden`;
    await using first = await serve((_, response) => void response.writeHead(307, { location }).end());
    const problem = await called(first.url, speaks);
    assert.deepEqual(heard, []);
    assert.deepEqual([problem?.is, problem?.mayHaveCost], ["failed", false]);
    assert.match(
      problem?.failure.message ?? "",
      /to http:\/\/localhost:\d+\/v1\/other: give the right address/,
    );
  });

  it(`reads no more than an answer can have, however small it came (${speaks})`, async () => {
    for (const status of [200, 500]) {
      await using server = await serve((_, response) => {
        response.writeHead(status, { "content-type": "text/event-stream", "content-encoding": "gzip" });
        const pieces = Array<Buffer>(400).fill(Buffer.alloc(1_000_000, " "));
        pipeline(pieces, createGzip({ level: 1 }), response).catch(() => {}); // The answer is cut off.
      });
      const problem = await called(server.url, speaks);
      assert.equal(problem?.is, "failed");
      assert.match(problem.failure.message, /sent more than \d+ bytes and was cut off/);
    }
  });

  it(`says that a web page is none of a model's, and charges nothing for it (${speaks})`, async () => {
    await using server = await answering("text/html; charset=utf-8", "<html>Sign in</html>");
    const problem = await called(server.url, speaks);
    assert.deepEqual([problem?.is, problem?.mayHaveCost], ["transient", false]);
    assert.match(problem?.failure.message ?? "", /a web page: see whether baseUrl is right$/);
  });

  it(`takes an error for one, whatever its status says (${speaks})`, async () => {
    const error = { message: "no more credits", code: 402 };
    await using poor = await answering("application/json", JSON.stringify({ error }));
    const problem = await called(poor.url, speaks);
    assert.deepEqual([problem?.is, problem?.mayHaveCost], ["quota", false]);
    assert.match(problem?.failure.message ?? "", /no more credits/);
    const refusal = { message: "who are you?", type: "authentication_error" };
    await using strict = await answering("application/json", JSON.stringify({ error: refusal }));
    assert.equal((await called(strict.url, speaks))?.is, "authentication");
  });

  it(`does not retry an answer without streaming: each time would cost (${speaks})`, async () => {
    await using server = await answering("application/json", '{"choices":[]}');
    const problem = await called(server.url, speaks);
    assert.deepEqual([problem?.is, problem?.mayHaveCost], ["failed", true]);
    assert.match(problem?.failure.message ?? "", /it answered without streaming/);
  });
}

const sent = (...events: readonly object[]) =>
  events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
const WHOLE = {
  openai: `${sent({ id: "1", choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] })}data: [DONE]\n\n`,
  anthropic: sent(
    {
      type: "message_start",
      message: { id: "1", model: "x", content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ),
};

for (const speaks of ["openai", "anthropic"] as const)
  it(`does not wait for a server that has said all and does not hang up (${speaks})`, {
    timeout: 20_000,
  }, async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(WHOLE[speaks]);
    });
    assert.equal(await called(server.url, speaks), undefined);
  });

it("reads a stream that goes by the wrong name", async () => {
  await using server = await answering("application/json", WHOLE.openai);
  assert.equal(await called(server.url, "openai"), undefined);
});

it("refuses a key that no header can hold, without a word of it", async () => {
  const spec = { provider: "anthropic", model: "x" };
  for (const key of ["sk-hidden\nmore", "sk-hidden\u0000", "sk-hidden-é", "sk-hidden “quoted”"]) {
    const model = await openModel(spec, { ANTHROPIC_API_KEY: key });
    assert.ok("failure" in model);
    assert.equal(model.failure.kind, "authentication");
    assert.match(model.failure.message, /ANTHROPIC_API_KEY has a line end/);
    assert.doesNotMatch(JSON.stringify(model.failure), /hidden/);
  }
  assert.ok(!("failure" in (await openModel(spec, { ANTHROPIC_API_KEY: " sk-fine\n" }))));
});
