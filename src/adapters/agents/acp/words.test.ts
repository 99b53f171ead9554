/** Tests how an ACP agent's reported costs and error messages are read. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failureOfError, failureOfWords } from "./failures.ts";
import { Hearing } from "./hearing.ts";
import { costIn, spentIn } from "./usage.ts";

describe("what a turn cost", () => {
  it("is read in each of the shapes in which agents say it, over all prompts", () => {
    const usage = { totalTokens: 12, inputTokens: 3, outputTokens: 4, cachedReadTokens: 5 };
    assert.deepEqual(spentIn([{ usage }], undefined), { tokens: 12 });
    assert.deepEqual(
      spentIn([{ usage: { inputTokens: 3, outputTokens: 4, cachedReadTokens: 5 } }], undefined),
      {
        tokens: 12,
      },
    );
    const quota = { _meta: { quota: { token_count: { input_tokens: 30, output_tokens: 2 } } } };
    assert.deepEqual(spentIn([quota, { usage }], 0.25), { tokens: 44, microdollars: 250_000 });
  });

  it("is not known if nobody said it, or said nonsense", () => {
    const odd = [{}, { usage: null }, { usage: { totalTokens: -1 } }, { usage: { totalTokens: "9" } }];
    assert.equal(spentIn(odd, undefined), undefined);
    assert.equal(costIn({ cost: { amount: 3, currency: "EUR" } }), undefined);
    assert.equal(costIn({ cost: { amount: 0, currency: "USD" } }), undefined);
    assert.equal(costIn({ cost: { amount: 0.5, currency: "USD" } }), 0.5);
  });
});

describe("what went wrong", () => {
  const login = { id: "a", type: "", name: "A", description: "run `a login`", variables: [] };
  const blamed = { name: "it", account: "acc", logins: [login], now: 1_000_000 };
  const kindOf = (code: number, message: string, data?: unknown) =>
    failureOfError({ code, message, data }, blamed).kind;

  it("is told by the words of an error, and by what is in its data", () => {
    assert.equal(kindOf(-32000, "Authentication required"), "authentication");
    assert.equal(
      kindOf(-32603, "Internal error", { details: "Incorrect API key provided" }),
      "authentication",
    );
    // As Gemini passes on Google's message about a wrong key.
    const google = { error: { code: 400, message: "API key not valid. Please pass a valid API key." } };
    assert.equal(kindOf(400, JSON.stringify(google)), "authentication");
    assert.equal(kindOf(-32000, "overloaded"), "agent-unreachable");
    assert.equal(kindOf(-32603, "Internal error", "connect ECONNREFUSED 127.0.0.1:1"), "agent-unreachable");
    assert.equal(kindOf(-32603, "Internal error", { error: { message: "HTTP 503" } }), "agent-unreachable");
    assert.equal(kindOf(-32603, "boom", { errorName: "APIError" }), "agent-unreachable");
    assert.equal(kindOf(-32603, "line 503 of 401 is odd"), "agent-failed");
    assert.equal(kindOf(-32603, "Internal error", { details: "oh no" }), "agent-failed");
  });

  it("is a quota with its account, and until when if that was said", () => {
    const { kind, account, until } = failureOfWords("usage limit reached, try again in 20s", blamed);
    assert.deepEqual([kind, account, until], ["quota", "acc", 1_020_000]);
    assert.equal(kindOf(-32603, "x", { details: "You exceeded your current quota" }), "quota");
    // As Claude and Codex have worded it.
    const rejected =
      "API Error: Request rejected (429) · This request would exceed your account's rate limit.";
    assert.equal(kindOf(-32603, `Internal error: ${rejected} Please try again later.`), "quota");
    assert.equal(kindOf(-32603, "exceeded retry limit, last status: 429 Too Many Requests"), "quota");
    assert.equal(kindOf(-32603, "429 tests failed"), "agent-failed");
  });

  it("says what to do about a login", () => {
    const { message, next, account } = failureOfError({ code: -32000, message: "" }, blamed);
    assert.match(
      `${message}; ${next}`,
      /it is not logged in.*run `a login`.*start it once by hand.*skein resume/,
    );
    assert.equal(account, "acc");
  });

  it("is harmless on a terminal, and of bounded length", () => {
    const { message } = failureOfError({ code: 1, message: `\u001b[31m${"x".repeat(1e6)}` }, blamed);
    assert.ok(message.length < 1_200 && !message.includes("\u001b"));
    assert.match(failureOfError(undefined, blamed).message, /without a message/);
  });
});

describe("what is heard", () => {
  const chunk = (text: string, messageId?: string) => ({
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text },
    ...(messageId && { messageId }),
  });

  const heard = (hearing: Hearing, update: object, sessionId = "s") => hearing.take({ sessionId, update });

  it("is that of its own session, once that has a name", () => {
    const hearing = new Hearing(() => {});
    hearing.listenTo("s");
    heard(hearing, chunk("mine"));
    heard(hearing, chunk("of another"), "s2");
    hearing.take(undefined);
    assert.equal(hearing.text, "mine");
  });

  it("is put together, and what follows a step or another message is on a line of its own", () => {
    const hearing = new Hearing(() => {});
    for (const update of [
      chunk("I lo"),
      chunk("ok."),
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } },
      chunk(" Now."),
      { sessionUpdate: "tool_call", toolCallId: "1", title: "read a.ts", kind: "read" },
      chunk('{"a":', "2"),
      chunk("1}", "2"),
      chunk("end", "3"),
      { sessionUpdate: "of_a_new_kind", content: 7 },
    ]) {
      heard(hearing, update);
    }
    assert.equal(hearing.text, 'I look. Now.\n{"a":1}\nend');
    assert.ok(hearing.hasActed);
    hearing.forget();
    assert.equal(hearing.text, "");
  });

  it("keeps the end of what has no end", () => {
    const hearing = new Hearing(() => {});
    for (let n = 0; n < 50; n += 1) heard(hearing, chunk("x".repeat(200_000)));
    heard(hearing, chunk("END"));
    assert.ok(hearing.text.length < 4_000_010 && hearing.text.endsWith("END"));
  });

  it("is shown to people as steps, and how they ended", () => {
    let shown = "";
    const hearing = new Hearing((text) => {
      shown += text;
    });
    heard(hearing, { sessionUpdate: "tool_call", title: "npm test", kind: "execute" });
    const content = [{ type: "content", content: { type: "text", text: "1 failed\u0007" } }];
    heard(hearing, { sessionUpdate: "tool_call_update", status: "failed", content });
    heard(hearing, chunk("oh"));
    assert.equal(shown, "→ execute npm test\n← failed: 1 failed\n\noh");
  });
});
