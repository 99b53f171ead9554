/** Which days are in a month, week by week? */
import { daysInMonth } from "../leap.js";
import { weekdayIndex } from "../weekday.js";

/** Weeks of seven, from Monday; undefined where a day belongs to another month. */
export function weeksOf(year, month) {
  const before = weekdayIndex({ year, month, day: 1 });
  const days = daysInMonth(year, month);
  return Array.from({ length: Math.ceil((before + days) / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_, column) => {
      const day = week * 7 + column - before + 1;
      return day >= 1 && day <= days ? day : undefined;
    }),
  );
}
