/** Tests what a failed model call means, by recorded refusals of many providers: quotas, reset times, secrets. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CallProblem, problemOf } from "./errors.ts";

const NOW = Date.parse("2026-11-16T10:00:00Z");
const place = { account: "acme", model: "acme/m", now: NOW };

/** A refusal as the library throws it. */
const refused = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const said = (body as { error?: { message?: string } }).error?.message ?? "";
  return Object.assign(new Error(said), { statusCode: status, responseHeaders: headers, responseBody: text });
};
const judged = (thrown: unknown) => problemOf(thrown, place);
const inMs = (problem: CallProblem) =>
  problem.failure.until === undefined ? undefined : problem.failure.until - NOW;

const openai = (message: string, code: string | null, type: string | null = null) => ({
  error: { message, type, param: null, code },
});
const anthropic = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "req_1",
});
const google = (code: number, status: string, message: string, details: unknown[] = []) => ({
  error: { code, message, status, details },
});

describe("a quota that is spent", () => {
  const cases: readonly (readonly [what: string, thrown: unknown, ms: number | undefined])[] = [
    [
      "OpenAI, with how long",
      refused(
        429,
        openai(
          "Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM). Please try again in 7.66s.",
          "rate_limit_exceeded",
          "tokens",
        ),
      ),
      7_660,
    ],
    [
      "OpenAI, by the count that is used up",
      refused(429, openai("Rate limit reached", "rate_limit_exceeded", "requests"), {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-remaining-tokens": "1000",
        "x-ratelimit-reset-tokens": "6m0s",
      }),
      1_000,
    ],
    [
      "OpenAI, by the later count if none is said to be used up",
      refused(429, openai("Rate limit reached", "rate_limit_exceeded"), {
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-reset-tokens": "6m0s",
      }),
      360_000,
    ],
    [
      "OpenAI, for good",
      refused(
        429,
        openai(
          "You exceeded your current quota, please check your plan and billing details.",
          "insufficient_quota",
          "insufficient_quota",
        ),
      ),
      undefined,
    ],
    [
      "OpenAI, of a plan",
      refused(429, {
        error: {
          type: "usage_limit_reached",
          message: "The usage limit has been reached",
          resets_at: NOW / 1_000 + 60,
        },
      }),
      60_000,
    ],
    [
      "Anthropic, with how long",
      refused(
        429,
        anthropic("rate_limit_error", "This request would exceed your organization's rate limit"),
        {
          "retry-after": "20",
          "anthropic-ratelimit-requests-reset": "2026-11-16T11:00:00Z",
        },
      ),
      20_000,
    ],
    [
      "Anthropic, by its counts",
      refused(
        429,
        anthropic("rate_limit_error", "This request would exceed your organization's rate limit"),
        {
          "anthropic-ratelimit-requests-remaining": "10",
          "anthropic-ratelimit-requests-reset": "2026-11-16T11:00:00Z",
          "anthropic-ratelimit-input-tokens-remaining": "0",
          "anthropic-ratelimit-input-tokens-reset": "2026-11-16T10:01:00Z",
        },
      ),
      60_000,
    ],
    [
      "Anthropic, for the month",
      refused(
        400,
        anthropic(
          "invalid_request_error",
          "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
        ),
      ),
      Date.parse("2026-12-01T00:00:00Z") - NOW,
    ],
    [
      "Anthropic, without credit",
      refused(
        400,
        anthropic(
          "invalid_request_error",
          "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
      ),
      undefined,
    ],
    [
      "Google, with how long",
      refused(
        429,
        google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", [
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" },
        ]),
      ),
      34_000,
    ],
    [
      "OpenRouter, without credit",
      refused(402, { error: { code: 402, message: "Insufficient credits" } }),
      undefined,
    ],
    [
      "OpenRouter, of a free model",
      refused(429, {
        error: {
          code: 429,
          message: "Rate limit exceeded: free-models-per-min",
          metadata: {
            headers: {
              "X-RateLimit-Limit": "20",
              "X-RateLimit-Remaining": "0",
              "X-RateLimit-Reset": String(NOW + 45_000),
            },
          },
        },
      }),
      45_000,
    ],
    [
      "OpenRouter, in a header",
      refused(
        429,
        { error: { code: 429, message: "Rate limit exceeded" } },
        { "X-RateLimit-Reset": String(NOW + 5_000) },
      ),
      5_000,
    ],
    [
      "DeepSeek, without money",
      refused(402, openai("Insufficient Balance", "invalid_request_error")),
      undefined,
    ],
    [
      "anybody, until a date",
      refused(429, "slow", { "Retry-After": "Mon, 16 Nov 2026 10:02:00 GMT" }),
      120_000,
    ],
    [
      "anybody, in milliseconds",
      refused(429, "slow", { "retry-after-ms": "1500", "retry-after": "2" }),
      1_500,
    ],
    ["anybody, without a word", refused(429, ""), undefined],
    [
      "OpenAI, in the middle of an answer",
      openai("Rate limit reached. Please try again in 2s.", "rate_limit_exceeded").error,
      2_000,
    ],
    ["Anthropic, in the middle of an answer", { type: "rate_limit_error", message: "limited" }, undefined],
  ];
  for (const [what, thrown, ms] of cases)
    it(`is known: ${what}`, () => {
      const problem = judged(thrown);
      assert.equal(problem.is, "quota");
      assert.equal(problem.failure.kind, "quota");
      assert.equal(problem.failure.account, "acme");
      assert.equal(inMs(problem), ms);
    });
});

it("a quota that is said as a length of time is told as one, and a moment is not", () => {
  const waitMs = (headers: Record<string, string>) =>
    judged(refused(429, openai("slow down", "rate_limit_exceeded"), headers)).failure.waitMs;
  assert.equal(waitMs({ "retry-after": "90" }), 90_000);
  assert.equal(waitMs({ "x-ratelimit-reset-tokens": "6m0s" }), 360_000);
  assert.equal(waitMs({ "retry-after": "Mon, 16 Nov 2026 12:00:00 GMT" }), undefined);
  assert.equal(waitMs({ "anthropic-ratelimit-tokens-reset": "2026-11-16T12:00:00Z" }), undefined);
});

describe("what a provider refuses", () => {
  const cases: readonly (readonly [CallProblem["is"], string, unknown])[] = [
    [
      "authentication",
      "OpenAI",
      refused(401, openai("Incorrect API key provided: sk-abc***xyz.", "invalid_api_key")),
    ],
    ["authentication", "Anthropic", refused(401, anthropic("authentication_error", "invalid x-api-key"))],
    [
      "authentication",
      "Anthropic, forbidden",
      refused(403, anthropic("permission_error", "Your API key does not have permission")),
    ],
    [
      "authentication",
      "Google",
      refused(
        400,
        google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
          { reason: "API_KEY_INVALID" },
        ]),
      ),
    ],
    [
      "authentication",
      "xAI",
      refused(400, {
        code: "Client specified an invalid argument",
        error: "Incorrect API key provided: xa***01.",
      }),
    ],
    [
      "too-long",
      "OpenAI",
      refused(400, openai("Your input exceeds the context window of this model.", "context_length_exceeded")),
    ],
    [
      "too-long",
      "Anthropic",
      refused(400, anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
    ],
    [
      "too-long",
      "Anthropic, with its answer",
      refused(
        400,
        anthropic(
          "invalid_request_error",
          "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
        ),
      ),
    ],
    [
      "too-long",
      "Anthropic, by bytes",
      refused(413, anthropic("request_too_large", "Request exceeds the maximum size")),
    ],
    [
      "too-long",
      "Google",
      refused(
        400,
        google(
          400,
          "INVALID_ARGUMENT",
          "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
      ),
    ],
    [
      "too-long",
      "llama.cpp",
      refused(400, {
        error: {
          code: 400,
          message: "the request exceeds the available context size. try increasing the context size",
          type: "exceed_context_size_error",
        },
      }),
    ],
    [
      "too-long",
      "vLLM",
      refused(
        400,
        openai(
          "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens.",
          null,
          "BadRequestError",
        ),
      ),
    ],
    [
      "transient",
      "OpenAI",
      refused(500, openai("The server had an error while processing your request.", null, "server_error")),
    ],
    ["transient", "a gateway", refused(502, "<html>Bad Gateway</html>")],
    ["transient", "Anthropic", refused(529, anthropic("overloaded_error", "Overloaded"))],
    [
      "transient",
      "Google",
      refused(503, google(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")),
    ],
    [
      "transient",
      "Anthropic, in the middle of an answer",
      { type: "overloaded_error", message: "Overloaded" },
    ],
    [
      "failed",
      "a model that is not there",
      refused(404, openai("The model `x` does not exist", "model_not_found")),
    ],
    [
      "failed",
      "a request that is wrong",
      refused(400, openai("Invalid schema for function 'x'", "invalid_function_parameters")),
    ],
  ];
  for (const [is, what, thrown] of cases) it(`is ${is}: ${what}`, () => assert.equal(judged(thrown).is, is));

  it("costs nothing, with a status", () => {
    for (const [, , thrown] of cases.filter(([, what]) => !/middle/.test(what)))
      assert.equal(judged(thrown).mayHaveCost, false);
    assert.equal(judged({ type: "overloaded_error", message: "Overloaded" }).mayHaveCost, true);
  });

  it("is told in words, but no part of a key", () => {
    assert.match(
      judged(cases.at(-1)![2]).failure.message,
      /acme\/m refused the call \(HTTP 400\): Invalid schema/,
    );
    assert.doesNotMatch(JSON.stringify(judged(cases[0]![2]).failure), /sk-abc/);
  });

  it("cannot make long or odd messages of ours", () => {
    const { message } = judged(refused(400, openai(`\u001b[31m${"x".repeat(100_000)}`, null))).failure;
    assert.ok(message.length < 600 && !message.includes("\u001b"));
  });
});

describe("what the network does", () => {
  const coded = (code: string) =>
    Object.assign(new Error("Cannot connect to API"), { cause: Object.assign(new Error("x"), { code }) });

  it("is transient, and free if nobody heard of the call", () => {
    for (const [code, mayHaveCost] of [
      ["ECONNREFUSED", false],
      ["ENOTFOUND", false],
      ["ECONNRESET", true],
      ["UND_ERR_SOCKET", true],
      ["UND_ERR_HEADERS_TIMEOUT", true],
    ] as const) {
      const problem = judged(coded(code));
      assert.deepEqual(
        [problem.is, problem.mayHaveCost, problem.failure.kind],
        ["transient", mayHaveCost, "agent-unreachable"],
        code,
      );
    }
    assert.equal(judged(new TypeError("terminated")).is, "transient");
  });

  it("is not blamed for what is broken in here", () => {
    assert.equal(judged(new RangeError("Invalid array length")).is, "failed");
  });

  for (const odd of [undefined, null, "", "text", 7, {}, [], Object.create(null), { error: null }])
    it(`may throw anything: ${JSON.stringify(odd)}`, () =>
      assert.equal(typeof judged(odd).failure.message, "string"));
});
