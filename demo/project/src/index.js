/** What does the almanac know about a day? Facts, each with a name and a function of a date. */
export { parseDate } from "./date.js";

// The calendar's facts.

// The sky's facts.

export const sections = {
  calendar: [],
  sky: [],
};
