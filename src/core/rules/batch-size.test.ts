/** Tests how many tasks a candidate gets by what the run has seen. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { bestBatch, NO_ODDS, withSeen } from "./batch-size.ts";

describe("the size of a batch", () => {
  it("is a dozen before anything is known, and grows to the limit where nothing is bad", () => {
    assert.equal(bestBatch(NO_ODDS, 50), 13);
    assert.equal(bestBatch({ good: 50, bad: 0 }, 50), 50);
  });

  it("is small where one in ten is bad, and one where half of them are", () => {
    assert.equal(bestBatch({ good: 90, bad: 10 }, 50), 7);
    assert.equal(bestBatch({ good: 5, bad: 5 }, 50), 1);
  });

  it("never passes its limit", () => {
    for (const max of [1, 2, 12]) assert.equal(bestBatch(NO_ODDS, max), max);
  });

  it("shrinks as more tasks turn out to be bad", () => {
    const sizes = [0, 1, 5, 20, 50].map((bad) => bestBatch({ good: 100 - bad, bad }, 50));
    assert.deepEqual(
      sizes,
      sizes.toSorted((a, b) => b - a),
    );
    assert.ok(sizes[0]! > sizes.at(-1)! && sizes.at(-1) === 1, sizes.join());
  });

  it("forgets: a bad evening does not make every batch of the night small", () => {
    let odds = { good: 0, bad: 20 };
    for (let i = 0; i < 500; i += 1) odds = withSeen(odds, { good: 1, bad: 0 });
    assert.equal(bestBatch(odds, 20), 20);
  });

  it("follows from what a run has seen: a refusal makes the next batch smaller, landings make it larger", () => {
    const run = CoreRun.planned([task("a"), task("b")], { landing: { maxBatch: 50 } });
    run.finish("t.1");
    const afterLanding = bestBatch(run.state.odds, 50);
    run.work("t.2");
    run.landRed();
    run.landRed();
    run.check();
    assert.equal(run.task("t.2").tries.refused, 1);
    assert.ok(afterLanding > bestBatch(NO_ODDS, 50));
    assert.ok(bestBatch(run.state.odds, 50) < afterLanding);
  });
});
