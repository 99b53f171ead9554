/** Tests that reading a description takes time in proportion to its length. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuMs } from "../../test/support/cpu.ts";
import { aggregateResults } from "./aggregate.ts";
import { DelegationEngine } from "./delegation-engine.ts";

const engine = new DelegationEngine();
const match = (description: string) => engine.matchSubagent({ description });
const sumUp = (error: string) => {
  const result = { success: false, output: "", duration: 1, error };
  return aggregateResults([{ taskId: "t", subagent: "main", result, retries: 0 }]).summary;
};

const HOSTILE: Readonly<Record<string, (n: number) => unknown>> = {
  "exclamation marks": (n) => match(`${"!".repeat(n)}a`),
  backticks: (n) => match(`${"`".repeat(n)}a`),
  dots: (n) => match(`${".".repeat(n)}a`),
  "brackets before and after": (n) => match(`${"(".repeat(n)}a${")".repeat(n)}b`),
  "accents upon one letter": (n) => match(`a${"\u0301".repeat(n)}${"\u0316".repeat(n)}`),
  "blanks in a phrase": (n) => match(`root${" ".repeat(n)}x`),
  "blanks in a reason": (n) => sumUp(`a${" ".repeat(8 * n)}b`),
  "blank lines in a reason": (n) => sumUp(`a${" \t".repeat(8 * n)}\nb`),
};

for (const [what, run] of Object.entries(HOSTILE)) {
  test(`the time for ${what} grows with the text, not with its square`, () => {
    const n = 2_400;
    const small = leastMs(() => run(n));
    const large = leastMs(() => run(8 * n));
    // Eight times the text takes 8 times as long, or 64 times if the time were quadratic. A quarter of a ms allows for
    // the clock.
    assert.ok(large < 32 * (small + 0.25), `${small} ms became ${large} ms`);
  });
}

function leastMs(run: () => unknown): number {
  const times = [1, 2, 3, 4, 5].map(() => {
    const start = cpuMs();
    run();
    return cpuMs() - start;
  });
  return Math.min(...times);
}

test("what is said after 20,000 characters is not read", () => {
  assert.equal(match(`Debug it. ${"x ".repeat(20_000)}`), "debugger");
  assert.equal(match(`${"x ".repeat(20_000)} debug it`), "main");
});

test("a word with its accents is still found as it is written", () => {
  const accented = new DelegationEngine();
  accented.addMapping({ taskType: "pr\u00fcfen", subagent: "checker" });
  assert.equal(accented.matchSubagent({ description: "Bitte pru\u0308fen." }), "checker");
});
