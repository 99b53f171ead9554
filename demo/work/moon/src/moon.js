/** What does the moon look like? By its mean month, so it may be off by half a day. */
import { dayNumber } from "./date.js";

const MONTH_DAYS = 29.530588853;
/** The new moon of 2000-01-06 at 18:14. */
const NEW_MOON = dayNumber({ year: 2000, month: 1, day: 6 }) + 0.76;
const PHASES = [
  "new moon", "waxing crescent", "first quarter", "waxing gibbous",
  "full moon", "waning gibbous", "last quarter", "waning crescent",
];

/** As it is at noon. */
export function moonPhase(date) {
  const months = (dayNumber(date) + 0.5 - NEW_MOON) / MONTH_DAYS;
  return PHASES[Math.round((months - Math.floor(months)) * 8) % 8];
}
