/** Tests the limiter: how many acts run at once, their order, stops while waiting, and acts that throw. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { limiterOf } from "./limiter.ts";

const NEVER = new AbortController().signal;

/** Makes an act that ends when told to. */
function act() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let hasBegun = false;
  return {
    begin: () => {
      hasBegun = true;
      return promise;
    },
    end: resolve,
    get hasBegun() {
      return hasBegun;
    },
  };
}

describe("a limiter", () => {
  it("lets as many run as it is told, and the rest in their order", async () => {
    const limiter = limiterOf(2);
    const acts = [act(), act(), act(), act()];
    const runs = acts.map((it) => limiter(it.begin, NEVER));
    await Promise.resolve();
    const begun = () => acts.map((it) => it.hasBegun);
    assert.deepEqual(begun(), [true, true, false, false]);
    acts[1]!.end();
    await runs[1];
    await new Promise(setImmediate);
    assert.deepEqual(begun(), [true, true, true, false]);
    for (const { end } of acts) end();
    await Promise.all(runs);
    assert.deepEqual(begun(), [true, true, true, true]);
  });

  it("gives up the wait of one that is told to stop, and keeps the place of the next", async () => {
    const limiter = limiterOf(1);
    const [first, second, third] = [act(), act(), act()];
    const stop = new AbortController();
    const one = limiter(first.begin, NEVER);
    const two = limiter(second.begin, stop.signal);
    const three = limiter(third.begin, NEVER);
    stop.abort();
    assert.equal(await two, undefined);
    first.end();
    await one;
    third.end();
    await three;
    assert.deepEqual([second.hasBegun, third.hasBegun], [false, true]);
  });

  it("goes on after an act that throws", async () => {
    const limiter = limiterOf(1);
    await assert.rejects(
      limiter(async () => Promise.reject(new Error("no")), NEVER),
      /no/,
    );
    assert.equal(await limiter(async () => 7, NEVER), 7);
  });
});
