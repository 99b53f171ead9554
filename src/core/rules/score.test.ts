/** Tests that a score counts what it says, within its bounds, and falls into the published tiers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scoreOf } from "./score.ts";

const partsOf = (text: string) => {
  const { verbs, connectors, domain, scope, risk } = scoreOf(text);
  return [verbs, connectors, domain, scope, risk];
};

describe("a score", () => {
  it("counts verbs where they are orders, and words that join", () => {
    assert.deepEqual(partsOf("Fix the parser"), [2, 0, 0, 0, 0]);
    assert.deepEqual(partsOf("Fix the parser and add a cache"), [4, 2, 0, 0, 0]);
    assert.deepEqual(partsOf("The fix for `add` was a test"), [0, 0, 0, 0, 0]);
    assert.deepEqual(partsOf("- Fix a\n- Add b\n- Remove c"), [6, 0, 0, 0, 0]);
  });

  it("counts domains, scope and risk once each", () => {
    assert.deepEqual(partsOf("A redesign: oauth tokens, passwords, webhooks"), [0, 0, 5, 0, 0]);
    assert.deepEqual(partsOf("All modules of the frontend, the backend"), [0, 0, 0, 6, 0]);
    assert.deepEqual(partsOf("In production: migrations, timeouts"), [0, 0, 0, 0, 5]);
  });

  it("never exceeds 35, and has a tier from 5 and above 15", () => {
    const long = "Fix it and then also add it. ".repeat(100);
    assert.deepEqual(partsOf(long), [10, 8, 0, 0, 0]);
    const all = `${long} architecture security integration files services production database performance`;
    assert.deepEqual([scoreOf(all).total, scoreOf(all).tier], [34, 3]);
    const tiers = ["Fix a", "Fix a. Add b. Write c", `${long}`].map((text) => {
      const { total, tier, min_depth } = scoreOf(text);
      return [total, tier, min_depth];
    });
    assert.deepEqual(tiers, [
      [2, 1, 1],
      [6, 2, 2],
      [18, 3, 3],
    ]);
    assert.equal(scoreOf("Fix and fix and", { tier2From: 0, tier3Above: 0 }).tier, 3);
  });

  it("reads other languages, and long texts in time", () => {
    assert.equal(scoreOf("検索を追加してください").total, 0);
    assert.ok(scoreOf("and ".repeat(1_000_000)).total <= 35);
  });
});
