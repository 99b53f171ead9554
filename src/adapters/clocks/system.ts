/** Tells the time by the machine's steady clock, and notices when the machine slept or its wall clock was changed. */
import { uptime } from "node:os";
import { type Clock, MAX_APART_MS } from "../../ports/clock.ts";

type Machine = {
  /** Milliseconds since 1970. Can be set to anything. */
  readonly wall: () => number;
  /** Goes on evenly. Stands still while the machine sleeps, on Linux. */
  readonly steady: () => number;
  /** Time since the machine was started. Goes on while it sleeps; exact to a second. */
  readonly sinceBoot: () => number;
};

const thisMachine: Machine = {
  wall: () => Date.now(),
  steady: () => performance.now(),
  sinceBoot: () => uptime() * 1_000,
};

/** Timers stop while the machine sleeps, and no event reports a changed clock, so both are checked this often. */
const LOOK_MS = 1_000;

export const systemClock = ({ wall, steady, sinceBoot }: Machine = thisMachine): Clock => {
  const begun = wall() - steady();
  const awake = sinceBoot() - steady();
  let ahead = begun;
  let sleptMs = 0;
  const now = () => {
    const passed = steady();
    const isAhead = wall() - passed;
    if (Math.abs(isAhead - ahead) > MAX_APART_MS) {
      ahead = isAhead; // The machine slept, or its clock was set: the time since boot tells which.
      const slept = sinceBoot() - passed - awake;
      if (slept - sleptMs > MAX_APART_MS) sleptMs = slept;
    }
    return Math.floor(begun + passed + sleptMs);
  };
  return {
    now,
    wall,
    wakeAt(time, wake) {
      let timer: NodeJS.Timeout;
      const arm = () => {
        const left = Math.max(0, time - now());
        timer = setTimeout(() => (now() < time ? arm() : wake()), Math.min(left, LOOK_MS));
      };
      arm();
      return () => clearTimeout(timer);
    },
    onJump(wake) {
      let apart = wall() - now();
      const look = () => {
        const isApart = wall() - now();
        if (Math.abs(isApart - apart) <= MAX_APART_MS) return;
        apart = isApart;
        wake();
      };
      const timer = setInterval(look, LOOK_MS).unref();
      return () => clearInterval(timer);
    },
  };
};
