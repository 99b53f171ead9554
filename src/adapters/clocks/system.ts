/** What time is it really? */
import type { Clock } from "../../ports/clock.ts";

/** Timers count in 31 bits of ms, some 24 days, and by another clock, which may be a ms ahead: then they wait again. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock = (): Clock => {
  let latest = 0;
  const now = () => {
    latest = Math.max(latest, Date.now()); // The wall clock may be set back; a run's time does not go back.
    return latest;
  };
  return {
    now,
    wakeAt(time, wake) {
      let timer: NodeJS.Timeout;
      const arm = () => {
        timer = setTimeout(
          () => (now() < time ? arm() : wake()),
          Math.min(Math.max(0, time - now()), MAX_TIMER_MS),
        );
      };
      arm();
      return () => clearTimeout(timer);
    },
  };
};
