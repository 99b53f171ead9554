/** Tests the system's clock: sleep of the machine, changes of its clock, timers that slept as well. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "./system.ts";

const HOUR = 3_600_000;

/** A machine whose clocks the test moves; its timers are Node's, and only go on when it is awake. */
function machine() {
  const is = { wall: 1_700_000_000_000, steady: 5_000.25, sinceBoot: 90_000 };
  const pass = (ms: number, ...clocks: (keyof typeof is)[]) => {
    for (const clock of clocks) is[clock] += ms;
  };
  return {
    clock: systemClock({ wall: () => is.wall, steady: () => is.steady, sinceBoot: () => is.sinceBoot }),
    wakeful: (ms: number) => pass(ms, "wall", "steady", "sinceBoot"),
    sleeps: (ms: number) => pass(ms, "wall", "sinceBoot"),
    isSet: (ms: number) => pass(ms, "wall"),
  };
}

describe("the clock of the system", () => {
  it("begins at what the machine's clock shows, in whole ms", () => {
    const { clock, wakeful } = machine();
    assert.ok(Math.abs(clock.now() - clock.wall()) <= 1);
    wakeful(10.5);
    assert.ok(Number.isInteger(clock.now()));
  });

  it("counts the time that the machine slept, and not what its clock was set by", () => {
    const { clock, wakeful, sleeps, isSet } = machine();
    const start = clock.now();
    const passed = () => clock.now() - start;
    sleeps(8 * HOUR);
    assert.equal(passed(), 8 * HOUR);
    isSet(30 * 24 * HOUR);
    wakeful(HOUR);
    assert.equal(passed(), 9 * HOUR);
    sleeps(HOUR);
    isSet(-60 * 24 * HOUR);
    assert.equal(passed(), 10 * HOUR, "both at once");
    wakeful(HOUR);
    assert.equal(passed(), 11 * HOUR);
  });

  it("wakes those who wait within a second of awaking, although timers slept as well", (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { clock, sleeps, wakeful } = machine();
    let woken = false;
    clock.wakeAt(clock.now() + 6 * HOUR, () => {
      woken = true;
    });
    sleeps(8 * HOUR);
    wakeful(1_000);
    t.mock.timers.tick(1_000);
    assert.ok(woken);
  });

  it("tells of a clock that was set, and not of a machine that slept", (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const { clock, sleeps, isSet } = machine();
    let told = 0;
    clock.onJump(() => {
      told += 1;
    });
    sleeps(8 * HOUR);
    t.mock.timers.tick(1_000);
    assert.equal(told, 0);
    isSet(-HOUR);
    t.mock.timers.tick(5_000);
    assert.equal(told, 1);
  });
});
