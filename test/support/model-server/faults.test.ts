/** Tests the model server's faults as the client libraries see them: limits, refusals, lost connections, bad data. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { APICallError, generateText } from "ai";
import { converse, WIRES } from "./clients.ts";
import * as refusals from "./model-server.ts";
import { type Reply, startModelServer } from "./model-server.ts";

const nextHour = () => Date.now() + 3_600_000;
const long = "word ".repeat(100).trim();

for (const { name, wire, model } of WIRES)
  describe(`what goes wrong at the model server, as ${name} sees it`, () => {
    const faulty = async (reply: Reply) => {
      await using server = await startModelServer({ answer: () => reply });
      return { ...(await converse(model(server.url))), tokens: server.tokens() };
    };
    const refused = async (reply: Reply) => {
      const { error, tokens } = await faulty(reply);
      assert.ok(APICallError.isInstance(error), String(error));
      assert.equal(tokens.calls, 0);
      const { statusCode, message, isRetryable } = error;
      return {
        statusCode,
        message,
        isRetryable,
        headers: error.responseHeaders ?? {},
        body: error.responseBody,
      };
    };
    const isAnthropic = wire === "anthropic";

    it("is at its rate limit, and says when to come back, or does not", async () => {
      const silent = await refused(refusals.rateLimited(wire));
      assert.deepEqual([silent.statusCode, silent.headers["retry-after"]], [429, undefined]);
      assert.match(silent.message, /rate limit/i);
      const told = await refused(refusals.rateLimited(wire, { retryAfterSeconds: 7 }));
      assert.equal(told.headers["retry-after"], "7");
      const resetAt = nextHour();
      const { headers } = await refused(refusals.rateLimited(wire, { resetAt }));
      assert.equal(headers["retry-after"], undefined);
      if (isAnthropic) {
        const at = Date.parse(headers["anthropic-ratelimit-requests-reset"]!);
        assert.equal(Math.floor(resetAt / 1_000) * 1_000, at);
      } else assert.match(headers["x-ratelimit-reset-requests"]!, /^(1h0m0s|59m\d+s)$/);
    });

    it("has nothing left on the account", async () => {
      const { statusCode, message } = await refused(refusals.quotaExhausted(wire));
      assert.equal(statusCode, isAnthropic ? 400 : 429);
      assert.match(message, isAnthropic ? /credit balance is too low/ : /exceeded your current quota/);
      const later = await refused(refusals.quotaExhausted(wire, { resetAt: Date.UTC(2027, 0, 2) }));
      if (isAnthropic) assert.match(later.message, /regain access on 2027-01-02 at 00:00 UTC\./);
      else assert.match(later.body!, /"usage_limit_reached".*"resets_at":1798848000/);
    });

    it("refuses the key, is broken, is overloaded", async () => {
      const key = await refused(refusals.wrongKey(wire));
      assert.deepEqual([key.statusCode, key.isRetryable], [401, false]);
      const broken = await refused(refusals.serverError(wire));
      assert.deepEqual([broken.statusCode, broken.isRetryable], [500, true]);
      const busy = await refused(refusals.overloaded(wire));
      assert.deepEqual([busy.statusCode, busy.isRetryable], [isAnthropic ? 529 : 503, true]);
      assert.match(busy.message, /overloaded/i);
    });

    it("has the wire's own words for any status", async () => {
      const { statusCode, message } = await refused({ fault: { is: "status", status: 418 } });
      assert.deepEqual([statusCode, message], [418, "failed with 418, as scripted"]);
    });

    it("is overloaded in the middle of an answer", async () => {
      const { error, tokens } = await faulty(refusals.overloadedInStream(wire, { text: long }));
      assert.match(JSON.stringify(error) + String(error), /overloaded/i);
      assert.equal(tokens.calls, 0);
    });

    it("drips", async () => {
      const began = performance.now();
      const { text, deltas, error, tokens } = await faulty({
        fault: { is: "drip", ms: 25, reply: { text: "one two three four five six" } },
      });
      assert.deepEqual([text, error, tokens.calls], ["one two three four five six", undefined, 1]);
      assert.equal(deltas, 7);
      assert.ok(performance.now() - began >= 8 * 24);
    });

    it("is cut off in the middle", async () => {
      const { error, text, finish, tokens } = await faulty({
        fault: { is: "cut", afterPieces: 6, reply: { text: long } },
      });
      assert.ok(error, "no error");
      assert.ok(text.length > 0 && text.length < long.length, `${text.length} characters`);
      assert.notEqual(finish, "stop");
      assert.equal(tokens.calls, 0);
    });

    it("is cut off before a word", async () => {
      const { error, tokens } = await faulty({ fault: { is: "cut", afterPieces: 0, reply: {} } });
      assert.match(String(error), /Cannot connect|closed|socket/i);
      assert.equal(tokens.calls, 0);
    });

    it("writes what is no JSON", async () => {
      const { error, finish, tokens } = await faulty({ fault: { is: "garbage" } });
      assert.match(String(error), /JSON/);
      assert.notEqual(finish, "stop");
      assert.equal(tokens.calls, 0);
    });

    it("calls a tool with arguments that are no JSON, or not its own", async () => {
      for (const wrong of ['{"word": "a', '{"wort": 1}']) {
        const bad: Reply = { fault: { is: "bad-arguments", tool: "note", arguments: wrong } };
        await using server = await startModelServer({
          answer: ({ n }) => (n === 1 ? bad : { text: "I see" }),
        });
        const { invalidCalls, text, finish } = await converse(model(server.url));
        // The client library does not check the arguments' shape here: any valid JSON reaches the tool.
        assert.equal(invalidCalls.length, wrong.endsWith("}") ? 0 : 1);
        assert.deepEqual([text, finish, server.tokens().calls], ["I see", "stop", 2]);
      }
    });

    it("talks without end, until the client has had enough", async () => {
      await using server = await startModelServer({
        answer: () => ({ fault: { is: "endless", maxBytes: 1_000_000_000 } }),
      });
      const enough = new AbortController();
      const ended = converse(model(server.url), { signal: enough.signal });
      await server.waitForCall(1);
      assert.equal(server.open, 1);
      enough.abort();
      assert.ok((await ended).error);
      assert.equal(server.calls[0]!.usage, undefined);
    });

    it("talks without end, up to its limit", async () => {
      const { text, finish } = await faulty({ fault: { is: "endless", maxBytes: 20_000 } });
      assert.equal(finish, "length");
      assert.ok(text.length >= 20_000 && text.length < 22_000, `${text.length} characters`);
    });

    it("hangs, until the client goes away", async () => {
      const gone = Promise.withResolvers<void>();
      await using server = await startModelServer({
        answer: (_, signal) => {
          signal.addEventListener("abort", () => gone.resolve());
          return { fault: { is: "hang" } };
        },
      });
      const enough = new AbortController();
      const ended = converse(model(server.url), { signal: enough.signal });
      await server.waitForCall(1);
      enough.abort();
      await gone.promise;
      assert.ok((await ended).error);
    });

    it("is closed while calls are open, and leaves nothing", async () => {
      const server = await startModelServer({
        answer: ({ n }) => (n === 1 ? { fault: { is: "hang" } } : new Promise<Reply>(() => {})),
      });
      const ended = [converse(model(server.url)), converse(model(server.url))];
      await server.waitForCall(2);
      const third = assert.rejects(server.waitForCall(3), /closed|aborted/);
      await server.close();
      await third;
      for (const { error } of await Promise.all(ended)) assert.ok(error);
      assert.equal(server.open, 0);
      await assert.rejects(fetch(server.url));
    });

    it("is cut off in the middle of a whole answer, and does not count it", async () => {
      await using server = await startModelServer({
        answer: () => ({ fault: { is: "cut", afterPieces: 3, reply: { text: long } } }),
      });
      await assert.rejects(
        generateText({ model: model(server.url), prompt: "p", maxRetries: 0, maxOutputTokens: 9 }),
      );
      assert.equal(server.tokens().calls, 0);
    });

    it("shows the mistake of a test's own answer", async () => {
      await using server = await startModelServer({
        answer: () => {
          throw new Error("no such reply");
        },
      });
      const { error } = await converse(model(server.url));
      assert.match(String((error as APICallError).responseBody), /no such reply/);
    });
  });

describe("what else the model server answers", () => {
  it("lists its models, as the asker reads them, for its keys alone", async () => {
    await using server = await startModelServer({ answer: () => ({}), keys: ["k"], models: ["a", "b"] });
    const list = async (headers: Record<string, string>) => {
      const response = await fetch(`${server.url}/v1/models`, { headers });
      return {
        status: response.status,
        body: (await response.json()) as { readonly data?: { id: string }[] },
      };
    };
    for (const headers of [{ authorization: "Bearer k" }, { "x-api-key": "k", "anthropic-version": "1" }])
      assert.deepEqual(
        (await list(headers)).body.data!.map(({ id }) => id),
        ["a", "b"],
      );
    assert.equal((await list({ authorization: "Bearer x" })).status, 401);
    assert.equal(server.calls.length, 0);
  });

  it("counts tokens before a call, refuses what is no request, and has nothing elsewhere", async () => {
    await using server = await startModelServer({ answer: () => ({}) });
    const post = (path: string, body: string) => fetch(`${server.url}${path}`, { method: "POST", body });
    const asked = JSON.stringify({ model: "m", messages: [{ role: "user", content: "12345678" }] });
    assert.deepEqual(await (await post("/v1/messages/count_tokens", asked)).json(), { input_tokens: 2 });
    assert.equal((await post("/v1/messages", "{")).status, 400);
    assert.equal((await post("/v2/messages", asked)).status, 404);
    assert.equal(server.calls.length, 0);
  });

  it("knows what it said, and not what another server said", async () => {
    await using server = await startModelServer({ answer: () => ({ text: "said" }) });
    const ask = (input: unknown) =>
      fetch(`${server.url}/v1/responses`, { method: "POST", body: JSON.stringify({ model: "m", input }) });
    const { output } = (await (await ask("hello")).json()) as { readonly output: readonly { id: string }[] };
    await ask([{ type: "item_reference", id: output[0]!.id }]);
    assert.deepEqual(
      server.calls[1]!.messages.map(({ role, text }) => [role, text]),
      [["assistant", "said"]],
    );
    assert.equal((await ask([{ type: "item_reference", id: "msg_of_another" }])).status, 404);
  });
});
