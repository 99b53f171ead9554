/** The contract suite of clocks, which each adapter passes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Clock } from "../../src/ports/clock.ts";

/** `until` resolves with the promise. A manual clock has to be moved until then. */
export type ClockUnderTest = {
  readonly clock: Clock;
  /** Sets the machine's clock forward or back by `ms`. */
  readonly jump: (ms: number) => void;
  readonly until: (kept: Promise<void>) => Promise<void>;
};

const DAY = 86_400_000;
const MONTH = 30 * DAY;

const wokenAt = (clock: Clock, time: number) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const callOff = clock.wakeAt(time, resolve);
  return { promise, callOff };
};

export function clockContract(name: string, open: () => ClockUnderTest): void {
  describe(`the clock ${name}`, () => {
    it("wakes at the time, not before", async () => {
      const { clock, until } = open();
      const time = clock.now() + 5;
      await until(wokenAt(clock, time).promise);
      assert.ok(clock.now() >= time);
    });

    it("wakes at once for a time that is past", async () => {
      const { clock, until } = open();
      await until(wokenAt(clock, clock.now() - 1_000).promise);
    });

    it("wakes once", async () => {
      const { clock, until } = open();
      let times = 0;
      clock.wakeAt(clock.now() + 1, () => {
        times += 1;
      });
      await until(wokenAt(clock, clock.now() + 5).promise);
      assert.equal(times, 1);
    });

    it("does not wake for what was called off", async () => {
      const { clock, until } = open();
      let woken = false;
      const callOff = clock.wakeAt(clock.now() + 1, () => {
        woken = true;
      });
      callOff();
      callOff();
      await until(wokenAt(clock, clock.now() + 5).promise);
      assert.equal(woken, false);
    });

    it("goes on as before when the machine's clock is set, which only the wall shows", async () => {
      const { clock, until, jump } = open();
      const [time, wall] = [clock.now(), clock.wall()];
      for (const ms of [MONTH, -2 * MONTH]) {
        jump(ms);
        assert.ok(clock.now() >= time && clock.now() < time + DAY, "its time is its own");
        await until(wokenAt(clock, clock.now() + 5).promise);
      }
      assert.ok(Math.abs(clock.wall() - wall + MONTH) < DAY);
    });

    it("tells of each jump of the machine's clock, until it is called off", async () => {
      const { clock, until, jump } = open();
      let told = 0;
      let next = Promise.withResolvers<void>();
      const callOff = clock.onJump(() => {
        told += 1;
        next.resolve();
      });
      for (const ms of [MONTH, -MONTH]) {
        next = Promise.withResolvers<void>();
        const later = clock.wakeAt(clock.now() + DAY, () => {}); // An engine always has a timer that it waits for.
        jump(ms);
        await until(next.promise);
        later();
      }
      callOff();
      jump(MONTH);
      await until(wokenAt(clock, clock.now() + 5).promise);
      assert.equal(told, 2);
    });

    it("wakes the earlier first, whichever was asked for first", async () => {
      const { clock, until } = open();
      const order: string[] = [];
      const late = wokenAt(clock, clock.now() + 8);
      clock.wakeAt(clock.now() + 2, () => order.push("early"));
      await until(late.promise);
      order.push("late");
      assert.deepEqual(order, ["early", "late"]);
    });
  });
}
