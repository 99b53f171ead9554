/** Tests the retry policy: defaults, refused values, delays and jitter. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DEFAULT_RETRY_POLICY, delayBefore, retryPolicy } from "./retry-policy.ts";

test("nothing given means three retries, one second apart, then twice as long each time", () => {
  const policy = retryPolicy({});
  assert.deepEqual(policy, DEFAULT_RETRY_POLICY);
  assert.deepEqual([policy.maxRetries, policy.retryDelayMs, policy.backoffMultiplier], [3, 1000, 2]);
  assert.deepEqual(
    [1, 2, 3].map((retry) => delayBefore(retry, policy, () => 0)),
    [1000, 2000, 4000],
  );
});

test("zero is a value, not an absence", () => {
  const policy = retryPolicy({ maxRetries: 0, retryDelayMs: 0, jitter: 0, maxDelayMs: 0 });
  assert.deepEqual([policy.maxRetries, policy.retryDelayMs, policy.jitter, policy.maxDelayMs], [0, 0, 0, 0]);
  assert.equal(
    delayBefore(1000, retryPolicy({ retryDelayMs: 0 }), () => 0),
    0,
  );
});

test("undefined is an absence", () => {
  assert.deepEqual(retryPolicy({ maxRetries: undefined }), DEFAULT_RETRY_POLICY);
});

for (const [given, name] of [
  [{ maxRetries: -1 }, "maxRetries"],
  [{ maxRetries: 1.5 }, "maxRetries"],
  [{ maxRetries: Number.NaN }, "maxRetries"],
  [{ maxRetries: Infinity }, "maxRetries"],
  [{ retryDelayMs: -1 }, "retryDelayMs"],
  [{ retryDelayMs: 2 ** 31 }, "retryDelayMs"],
  [{ backoffMultiplier: 0 }, "backoffMultiplier"],
  [{ backoffMultiplier: Number.NaN }, "backoffMultiplier"],
  [{ maxDelayMs: Number.NaN }, "maxDelayMs"],
  [{ jitter: 1.1 }, "jitter"],
  [{ attemptTimeoutMs: 0 }, "attemptTimeoutMs"],
  [{ attemptTimeoutMs: "10" as unknown as number }, "attemptTimeoutMs"],
] as const)
  test(`refuses ${name} ${Object.values(given)[0]}, naming it and the value`, () => {
    assert.throws(
      () => retryPolicy(given),
      (error: Error) =>
        error.message.startsWith(`${name} must be `) &&
        error.message.endsWith(String(Object.values(given)[0])),
    );
  });

test("a delay is never longer than the cap, never below what jitter may leave, always a number", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 0, max: 100_000 }),
      fc.double({ min: 1, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (retry, retryDelayMs, backoffMultiplier, chance) => {
        const policy = retryPolicy({ retryDelayMs, backoffMultiplier, jitter: 0.5, maxDelayMs: 5_000 });
        const delay = delayBefore(retry, policy, () => chance);
        assert.ok(delay <= 5_000 && delay >= Math.floor(Math.min(retryDelayMs, 5_000) / 2), String(delay));
      },
    ),
  );
});

test("jitter takes off its share and no more", () => {
  const policy = retryPolicy({ jitter: 0.2 });
  assert.equal(
    delayBefore(1, policy, () => 0.5),
    900,
  );
  assert.equal(
    delayBefore(1, policy, () => 0.9999999),
    800,
  );
});
