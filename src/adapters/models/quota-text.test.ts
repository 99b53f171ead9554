/** Tests reading from words whether a quota is spent, and until when: durations, times, zones, clock changes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import { durationMs, readQuotaText } from "./quota-text.ts";

const NOW = Date.parse("2026-11-16T10:00:00Z");
const until = (text: string, zone = "UTC") => {
  const read = readQuotaText(text, NOW, zone);
  return read === undefined
    ? "none"
    : read.until === undefined
      ? "some day"
      : new Date(read.until).toISOString();
};

describe("what is said about a quota in words", () => {
  const told: readonly (readonly [text: string, until: string])[] = [
    ["Claude AI usage limit reached|1794830400", "2026-11-16T12:00:00.000Z"],
    ["Claude AI usage limit reached|1794830400000", "2026-11-16T12:00:00.000Z"],
    ["usage limit reached, resets 3pm (Europe/Berlin)", "2026-11-16T14:00:00.000Z"],
    ["You've hit your limit · resets 9am (UTC)", "2026-11-17T09:00:00.000Z"],
    ["You've hit your weekly limit · resets Nov 20, 5am (Europe/Berlin)", "2026-11-20T04:00:00.000Z"],
    ["5-hour limit reached ∙ resets 15:30", "2026-11-16T15:30:00.000Z"],
    ["You've hit your usage limit. Try again at Nov 20th, 2026 4:05 PM.", "2026-11-20T16:05:00.000Z"],
    ["You've hit your usage limit. Please try again in 5 days 3 hours.", "2026-11-21T13:00:00.000Z"],
    [
      "Rate limit reached for gpt-5 on tokens per min. Please try again in 1m30.5s.",
      "2026-11-16T10:01:30.500Z",
    ],
    ["rate_limit_exceeded: try again in 20s", "2026-11-16T10:00:20.000Z"],
    ["Rate limit exceeded. Please try again in 250ms.", "2026-11-16T10:00:00.250Z"],
    ["Your quota will reset after 5h: quota exceeded", "2026-11-16T15:00:00.000Z"],
    ["Quota exceeded for metric x. Please retry in 34.5s.", "2026-11-16T10:00:34.500Z"],
    [
      "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
      "2026-12-01T00:00:00.000Z",
    ],
    ["too many requests; limit resets at 2026-11-16T14:05:00Z", "2026-11-16T14:05:00.000Z"],
    ["You exceeded your current quota, please check your plan and billing details.", "some day"],
    ["Your credit balance is too low to access the Anthropic API.", "some day"],
    ["RESOURCE_EXHAUSTED", "some day"],
    ["429 Too Many Requests", "some day"],
  ];
  for (const [text, expected] of told)
    it(`is understood: ${text}`, () => assert.equal(until(text), expected));

  const others = [
    "the function limits its depth to 5",
    "error: cannot find module, try again in 20s",
    "limit: 3",
    "TypeError: x is not a function",
    "",
  ];
  for (const text of others) it(`is not seen in: ${text}`, () => assert.equal(until(text), "none"));

  it("tells a length of time from a moment: only a moment goes by the machine's clock", () => {
    const said = (text: string) => readQuotaText(text, NOW, "UTC")?.waitMs;
    assert.equal(said("rate limit reached, try again in 20s"), 20_000);
    assert.equal(said("Claude AI usage limit reached|1794830400"), undefined);
    assert.equal(said("usage limit reached, resets 3pm (Europe/Berlin)"), undefined);
    assert.equal(said("You exceeded your current quota"), undefined);
  });

  it("takes a time without a zone for the machine's own", () => {
    assert.equal(until("usage limit reached, resets 3pm", "America/New_York"), "2026-11-16T20:00:00.000Z");
  });

  it("finds the day after on which it is so late again, also when clocks are changed", () => {
    const now = Date.parse("2026-03-28T20:00:00Z"); // Berlin changes its clocks at 01:00 UTC on the 29th.
    const read = readQuotaText("limit reached, resets 8am (Europe/Berlin)", now, "UTC");
    assert.equal(new Date(read?.until ?? 0).toISOString(), "2026-03-29T06:00:00.000Z");
  });

  it("takes a month that is over for next year's", () => {
    const now = Date.parse("2026-12-30T20:00:00Z");
    const read = readQuotaText("weekly limit reached, resets Jan 2, 5am (UTC)", now, "UTC");
    assert.equal(new Date(read?.until ?? 0).toISOString(), "2027-01-02T05:00:00.000Z");
  });

  it("does not take long for long texts", () => {
    const began = cpuMs();
    for (const piece of ["limit ", "reached ", "in 1s 1s ", "(", "|1"]) until(piece.repeat(100_000));
    assert.ok(cpuMs() - began < 2_000);
  });
});

describe("a length of time in words", () => {
  for (const [text, ms] of [
    ["1s", 1_000],
    ["6m0s", 360_000],
    ["120ms", 120],
    ["1h2m3s", 3_723_000],
    ["7.66s", 7_660],
  ] as const)
    it(text, () => assert.equal(durationMs(text), ms));
  it("is none where there is none", () => assert.equal(durationMs("soon"), undefined));
});
