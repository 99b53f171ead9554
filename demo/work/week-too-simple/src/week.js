/** Which ISO week is it? */
import { dayNumber } from "./date.js";

export function isoWeek(date) {
  const { year } = date;
  const sinceNewYear = dayNumber(date) - dayNumber({ year, month: 1, day: 1 });
  return { year, week: Math.floor(sinceNewYear / 7) + 1 };
}
