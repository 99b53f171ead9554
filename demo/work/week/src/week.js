/** Which ISO week is it? A week belongs to the year that has its Thursday. */
import { dayNumber, fromDayNumber } from "./date.js";

export function isoWeek(date) {
  const number = dayNumber(date);
  const sinceMonday = (((number + 3) % 7) + 7) % 7;
  const thursday = number - sinceMonday + 3;
  const { year } = fromDayNumber(thursday);
  return { year, week: Math.floor((thursday - dayNumber({ year, month: 1, day: 1 })) / 7) + 1 };
}
