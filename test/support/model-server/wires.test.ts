/** Tests the model server's wire formats with the client libraries: streams, tools, usage, keys and parallel calls. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { generateText } from "ai";
import { CLIENTS, converse, note } from "./clients.ts";
import { type Answerer, type Reply, startModelServer, wrongKey } from "./model-server.ts";

const inTurn =
  (...replies: readonly Reply[]): Answerer =>
  ({ n }) =>
    replies[n - 1]!;

for (const { name, wire, model } of CLIENTS)
  describe(`the model server, called by ${name}`, () => {
    it("streams a text in pieces", async () => {
      await using server = await startModelServer({ answer: () => ({ text: "one two three – 四" }) });
      const { text, finish, error, deltas } = await converse(model(server.url));
      assert.deepEqual(
        { text, finish, error },
        { text: "one two three – 四", finish: "stop", error: undefined },
      );
      assert.ok(deltas >= 3, `${deltas} pieces`);
    });

    it("calls several tools at once, and reads what they gave", async () => {
      const word = "long ".repeat(50);
      const tools = [word, "b"].map((w) => ({ name: "note", input: { word: w } }));
      await using server = await startModelServer({
        answer: inTurn({ text: "first", tools }, { text: "last" }),
      });
      const { text, finish, finishes, error } = await converse(model(server.url));
      assert.deepEqual({ text, finish, error }, { text: "firstlast", finish: "stop", error: undefined });
      assert.deepEqual(finishes, ["tool-calls", "stop"]);
      const [first, second] = server.calls;
      assert.deepEqual([first!.wire, first!.model, first!.key], [wire, "test-model", "k"]);
      assert.deepEqual([first!.system, first!.tools], ["be brief", ["note"]]);
      assert.deepEqual(first!.messages, [{ role: "user", text: "go", toolCalls: [], toolResults: [] }]);
      const [user, assistant, results] = second!.messages;
      assert.equal(second!.messages.length, 3);
      assert.deepEqual([user!.role, assistant!.role, results!.role], ["user", "assistant", "tool"]);
      assert.equal(assistant!.text, "first");
      assert.deepEqual(
        assistant!.toolCalls.map(({ name, input }) => ({ name, input })),
        tools,
      );
      assert.deepEqual(
        results!.toolResults,
        assistant!.toolCalls.map(({ id }, i) => ({ id, text: `noted ${tools[i]!.input.word}` })),
      );
      assert.equal(new Set(assistant!.toolCalls.map(({ id }) => id)).size, 2);
    });

    it("counts to the token what the library counts, given or not", async () => {
      const tools = [{ name: "note", input: { word: "a" } }];
      const usage = { input: 1_000, output: 77, cached: 400 };
      await using server = await startModelServer({ answer: inTurn({ tools, usage }, { text: "12345" }) });
      const ended = await converse(model(server.url));
      const [, second] = server.calls;
      // "be brief", "go", "note", {"word":"a"} and "noted a" have 34 characters, which are 9 tokens; 5 characters of
      // answer are 2.
      assert.deepEqual(second!.usage, { input: 9, output: 2, cached: 0 });
      assert.deepEqual(server.tokens(), { input: 1_009, output: 79, calls: 2 });
      assert.deepEqual([ended.inputTokens, ended.outputTokens, ended.cachedTokens], [1_009, 79, 400]);
    });

    it("says that its text was too long", async () => {
      await using server = await startModelServer({ answer: () => ({ text: "abc", stop: "length" }) });
      assert.equal((await converse(model(server.url))).finish, "length");
    });

    it("may say nothing at all", async () => {
      await using server = await startModelServer({ answer: () => ({}) });
      const { text, finish, error } = await converse(model(server.url));
      assert.deepEqual({ text, finish, error }, { text: "", finish: "stop", error: undefined });
    });

    it("answers whole where nobody asked for a stream", async () => {
      const tools = [{ name: "note", input: { word: "b" } }];
      await using server = await startModelServer({ answer: () => ({ text: "whole", tools }) });
      const { text, toolCalls, usage, finishReason } = await generateText({
        model: model(server.url),
        instructions: "s",
        prompt: "p",
        tools: { note },
        maxOutputTokens: 1_000,
      });
      assert.deepEqual([text, finishReason], ["whole", "tool-calls"]);
      assert.deepEqual(
        toolCalls.map(({ input }) => input),
        [{ word: "b" }],
      );
      const counted = server.calls[0]!.usage!;
      assert.deepEqual([usage.inputTokens, usage.outputTokens], [counted.input, counted.output]);
    });

    it("knows its keys", async () => {
      await using server = await startModelServer({ answer: () => ({ text: "in" }), keys: ["right"] });
      assert.equal((await converse(model(server.url, "right"))).text, "in");
      const { error } = await converse(model(server.url, "wrong"));
      assert.equal((error as { readonly statusCode?: number }).statusCode, wrongKey(wire).fault.status);
      assert.match(String(error), /key/);
      assert.deepEqual(server.tokens().calls, 1);
    });

    it("answers two at once", async () => {
      const both = Promise.withResolvers<void>();
      await using server = await startModelServer({
        answer: async ({ n, messages }) => {
          if (n === 2) both.resolve();
          await both.promise;
          return { text: `to ${messages[0]!.text}` };
        },
      });
      const ends = await Promise.all(["a", "b"].map((prompt) => converse(model(server.url), { prompt })));
      assert.deepEqual(
        ends.map(({ text }) => text),
        ["to a", "to b"],
      );
    });
  });
