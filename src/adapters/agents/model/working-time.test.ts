/** Tests the working time of a turn: pauses, limits above the longest timer, and stops. */
import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { WorkingTime } from "./working-time.ts";

/** Returns a function that moves the test's timers. */
const clockOf = ({ mock: { timers } }: TestContext) => {
  timers.enable({ apis: ["setTimeout"] });
  return (ms: number) => timers.tick(ms);
};

describe("the time of a turn", () => {
  it("stands still while it is paused, and then goes on", (t) => {
    const pass = clockOf(t);
    const time = new WorkingTime(60_000);
    time.pause(true);
    time.pause(true);
    pass(1_000_000);
    assert.equal(time.signal.aborted, false);
    time.pause(false);
    pass(50_000);
    assert.equal(time.signal.aborted, false);
    pass(10_000);
    assert.equal(time.signal.aborted, true);
  });

  it("may be longer than any timer", (t) => {
    const pass = clockOf(t);
    const time = new WorkingTime(30 * 86_400_000);
    pass(86_400_000);
    assert.equal(time.signal.aborted, false);
    time.stop();
  });

  it("does not end once it is stopped", (t) => {
    const pass = clockOf(t);
    const time = new WorkingTime(20);
    time.stop();
    pass(1_000);
    assert.equal(time.signal.aborted, false);
  });
});
