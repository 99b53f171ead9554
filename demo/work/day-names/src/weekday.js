/** Which day of the week is it? */
import { dayNumber } from "./date.js";

const NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** 0 is Monday. The first of January 1970 was a Thursday; the second remainder is for days before it. */
export const weekdayIndex = (date) => (((dayNumber(date) + 3) % 7) + 7) % 7;

/** In full, and as it stands above a column. */
export function weekday(date) {
  const name = NAMES[weekdayIndex(date)];
  return { long: name, short: name.slice(0, 2) };
}
