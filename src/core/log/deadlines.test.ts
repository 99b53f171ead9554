/** Tests `Deadlines` against a plain list, and that renewing a key takes no memory. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { Deadlines } from "./deadlines.ts";

describe("Deadlines", () => {
  test("names the earliest time, and whose it is", () => {
    const deadlines = new Deadlines();
    assert.equal(deadlines.next(), undefined);
    deadlines.set("lease", 50);
    deadlines.set("sweep", 20);
    deadlines.set("retry", 20);
    assert.equal(deadlines.next(), 20);
    assert.deepEqual(deadlines.due(19), []);
    assert.deepEqual(deadlines.due(20), ["sweep", "retry"]);
    assert.deepEqual(deadlines.due(99), ["sweep", "retry", "lease"]);
  });

  test("keeps one deadline a key: a later one replaces an earlier, and the other way round", () => {
    const deadlines = new Deadlines();
    deadlines.set("lease", 10);
    deadlines.set("lease", 90);
    assert.equal(deadlines.next(), 90);
    assert.deepEqual(deadlines.due(10), []);
    deadlines.set("lease", 5);
    assert.equal(deadlines.get("lease"), 5);
    assert.deepEqual(deadlines.due(90), ["lease"]);
  });

  test("a deleted key falls due no more; an unknown one may be deleted", () => {
    const deadlines = new Deadlines();
    deadlines.set("a", 1);
    deadlines.set("b", 2);
    deadlines.delete("a");
    deadlines.delete("nobody");
    assert.equal(deadlines.next(), 2);
    assert.equal(deadlines.get("a"), undefined);
    assert.deepEqual(deadlines.due(9), ["b"]);
  });

  test("refuses a time that is not a number", () => {
    assert.throws(() => new Deadlines().set("lease", Number.NaN), /"lease"/);
  });

  test("answers as a plain list would, whatever is done to it", () => {
    fc.assert(
      fc.property(fc.array(operation, { size: "large" }), (operations) => {
        const deadlines = new Deadlines();
        const model = new Map<string, number>();
        for (const { act, key, at } of operations) {
          if (act === "set") deadlines.set(key, at);
          else deadlines.delete(key);
          model.delete(key); // A key that is set again counts as set last.
          if (act === "set") model.set(key, at);
          assert.equal(deadlines.get(key), model.get(key));
          assert.equal(deadlines.next(), model.size === 0 ? undefined : Math.min(...model.values()));
          for (const now of [at, 50]) assert.deepEqual(deadlines.due(now), dueByList(model, now));
        }
      }),
      { numRuns: 100 },
    );
  });

  test("renewing one key 500,000 times behind an early one takes no memory", () => {
    const deadlines = new Deadlines();
    deadlines.set("early", 0); // While it stays, no leftover is removed from the heap's top.
    const before = usedBytes();
    for (let i = 0; i < 500_000; i++) deadlines.set("lease", 1_000 + i);
    assert.ok(usedBytes() - before < 5_000_000, "leftovers are kept: 500,000 of them are over 20 MB");
    assert.deepEqual(deadlines.due(Number.POSITIVE_INFINITY), ["early", "lease"]);
  });
});

const operation = fc.record({
  act: fc.constantFrom("set", "set", "delete"),
  key: fc.constantFrom(..."abcdefghijklmnop"),
  at: fc.integer({ min: 0, max: 100 }),
});

/** The sort is stable, and a map keeps the order in which its keys were set. */
const dueByList = (model: ReadonlyMap<string, number>, now: number) =>
  [...model]
    .filter(([, at]) => at <= now)
    .sort((a, b) => a[1] - b[1])
    .map(([key]) => key);

function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}
