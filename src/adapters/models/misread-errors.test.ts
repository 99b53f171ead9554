/** Tests errors of models that are easy to misread: quoted text, odd shapes, malformed calls, length limits. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { JSONParseError, TypeValidationError } from "ai";
import { problemOf } from "./errors.ts";

const place = { account: "acme", model: "acme/m", now: 0 };
const refused = (statusCode: number, message: string, error: object = {}) =>
  Object.assign(new Error(message), {
    statusCode,
    responseBody: JSON.stringify({ error: { message, ...error } }),
  });

describe("a call that failed", () => {
  it("is not judged by the model's own words, which an error quotes where an answer is garbled", () => {
    for (const words of [
      "invalid_api_key",
      "insufficient_quota",
      "too many requests",
      "prompt is too long",
    ]) {
      const chunk = { choices: [{ delta: { content: `throw new Error("${words}")` } }] };
      const text = JSON.stringify(chunk).slice(0, -3);
      const cause = new Error("Unexpected end of JSON input");
      for (const thrown of [
        new JSONParseError({ text, cause }),
        new TypeValidationError({ value: chunk, cause }),
      ])
        assert.equal(problemOf(thrown, place).is, "transient", words);
    }
  });

  it("is judged by an error of an odd shape all the same", () => {
    const thrown = new TypeValidationError({ value: { error: "Too Many Requests" }, cause: new Error("x") });
    assert.equal(problemOf(thrown, place).is, "quota");
  });

  it("because the model wrote a call that cannot be read is tried again, whatever the call was about", () => {
    const groq = {
      code: "tool_use_failed",
      failed_generation: 'if (e === "invalid_api_key") "insufficient_quota"',
    };
    const { is, failure } = problemOf(refused(400, "Failed to call a function.", groq), place);
    assert.deepEqual([is, failure.kind], ["transient", "agent-unreachable"]);
    assert.equal(problemOf({ error: groq }, place).is, "transient", "in the middle of a stream");
    const long = { ...groq, failed_generation: `${groq.failed_generation}${" on and on".repeat(900_000)}` };
    assert.equal(problemOf(refused(400, "Failed.", long), place).is, "transient", "9 MB of it");
    assert.equal(problemOf(refused(498, "Flex tier capacity exceeded"), place).is, "transient");
  });

  it("because a local model was loaded with less than it could hold is made shorter", () => {
    const message =
      "However, the model is loaded with context length of only 4096 tokens, which is not enough.";
    assert.equal(problemOf(refused(400, message), place).is, "too-long");
  });

  it("for what was asked says nothing about the key", () => {
    for (const message of [
      'acme/m requires moderation on OpenRouter. Your input was flagged for "violence".',
      "Content violates usage guidelines. Team: t, API key ID: k, Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO",
    ]) {
      const { is, failure } = problemOf(refused(403, message), place);
      assert.deepEqual([is, failure.kind], ["failed", "agent-failed"]);
    }
  });

  it("because it is larger than a minute's quota will never fit by waiting", () => {
    const message =
      "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 41017. " +
      "The input or output tokens must be reduced in order to run successfully.";
    assert.equal(problemOf(refused(429, message, { code: "rate_limit_exceeded" }), place).is, "too-long");
  });

  it("because something on the way gave up may have been billed", () => {
    for (const status of [408, 504, 524]) {
      const { is, mayHaveCost } = problemOf(refused(status, "timed out"), place);
      assert.deepEqual([is, mayHaveCost], ["transient", true]);
    }
    assert.equal(problemOf(refused(503, "unavailable"), place).mayHaveCost, false);
  });
});
