/** What does the almanac print about a day? */
import { MONTHS } from "./calendar/title.js";
import { renderMonth } from "./calendar/render.js";
import { sections } from "./index.js";
import { ordinal } from "./ordinal.js";
import { roman } from "./roman.js";
import { weekday } from "./weekday.js";

export function pageOf(date) {
  const { year, month, day } = date;
  const head = weekday(date) + ", " + ordinal(day) + " of " + MONTHS[month - 1] + " " + roman(year);
  const facts = [...sections.calendar, ...sections.sky].map(([name, fact]) => name.padEnd(9) + fact(date));
  return [head, "", ...facts, "", renderMonth(date), ""].join("\n");
}
