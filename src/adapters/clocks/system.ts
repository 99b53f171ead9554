/** What time is it really? */
import type { Clock } from "../../ports/clock.ts";

/** Timers count in 31 bits of ms, some 24 days; a longer wait is made of several. */
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
        const left = time - now();
        timer = left > MAX_TIMER_MS ? setTimeout(arm, MAX_TIMER_MS) : setTimeout(wake, Math.max(0, left));
      };
      arm();
      return () => clearTimeout(timer);
    },
  };
};
