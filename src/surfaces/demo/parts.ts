/** What do the demo's workers write? The almanac's modules, each with its test. */

export const file = (text: string) => text.replace(/^\n/, "");

export type DemoPart = { readonly code: string; readonly test: string };

const TEST_HEAD = `import assert from "node:assert/strict";
import { test } from "node:test";
`;

export const tested = (text: string) => TEST_HEAD + file(text);

export const leap: DemoPart = {
  code: file(`
/** How long is a year, and a month in it? */
export const isLeap = (year) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export const daysInMonth = (year, month) => (month === 2 && isLeap(year) ? 29 : DAYS[month - 1]);
`),
  test: tested(`
import { isLeap } from "../src/leap.js";

test("every fourth year is a leap year, but of the full centuries only every fourth", () => {
  assert.deepEqual([2024, 2026, 1900, 2000].map(isLeap), [true, false, false, true]);
});
`),
};

export const weekday: DemoPart = {
  code: file(`
/** Which day of the week is it? */
import { dayNumber } from "./date.js";

const NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** 0 is Monday. The first of January 1970 was a Thursday; the second remainder is for days before it. */
export const weekdayIndex = (date) => (((dayNumber(date) + 3) % 7) + 7) % 7;

export const weekday = (date) => NAMES[weekdayIndex(date)];
`),
  test: tested(`
import { parseDate } from "../src/date.js";
import { weekday } from "../src/weekday.js";

test("knows famous days of the week", () => {
  assert.equal(weekday(parseDate("1969-07-20")), "Sunday");
  assert.equal(weekday(parseDate("1970-01-01")), "Thursday");
  assert.equal(weekday(parseDate("2000-02-29")), "Tuesday");
});
`),
};

export const ordinal: DemoPart = {
  code: file(`
/** How is a number in a row said? */
const ENDINGS = { 1: "st", 2: "nd", 3: "rd" };

export function ordinal(n) {
  const isTeen = n % 100 >= 11 && n % 100 <= 13;
  return n + ((!isTeen && ENDINGS[n % 10]) || "th");
}
`),
  test: tested(`
import { ordinal } from "../src/ordinal.js";

test("says the ends of numbers, teens included", () => {
  const said = [1, 2, 3, 4, 11, 12, 13, 21, 22, 111].map(ordinal);
  assert.deepEqual(said, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "111th"]);
});
`),
};

export const roman: DemoPart = {
  code: file(`
/** How did the Romans write a year? */
const SIGNS = [
  [1000, "M"], [900, "CM"], [500, "D"], [400, "CD"], [100, "C"], [90, "XC"],
  [50, "L"], [40, "XL"], [10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"],
];

export function roman(year) {
  let rest = year;
  let text = "";
  for (const [value, sign] of SIGNS) {
    text += sign.repeat(Math.floor(rest / value));
    rest %= value;
  }
  return text;
}
`),
  test: tested(`
import { roman } from "../src/roman.js";

test("writes years as on old buildings", () => {
  assert.deepEqual([1666, 1994, 2026].map(roman), ["MDCLXVI", "MCMXCIV", "MMXXVI"]);
});
`),
};

export const season: DemoPart = {
  code: file(`
/** Which season is it, by whole months, as weather services count? */
const NORTH = ["winter", "spring", "summer", "autumn"];

export function season({ month }, hemisphere = "north") {
  const quarter = Math.floor((month % 12) / 3);
  return NORTH[hemisphere === "north" ? quarter : (quarter + 2) % 4];
}
`),
  test: tested(`
import { season } from "../src/season.js";

test("turns with the months", () => {
  assert.deepEqual(
    [1, 3, 8, 11, 12].map((month) => season({ month })),
    ["winter", "spring", "summer", "autumn", "winter"],
  );
});
`),
};

export const moon: DemoPart = {
  code: file(`
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
`),
  test: tested(`
import { parseDate } from "../src/date.js";
import { moonPhase } from "../src/moon.js";

test("was dark and full when it should be", () => {
  assert.equal(moonPhase(parseDate("2024-04-08")), "new moon"); // A solar eclipse.
  assert.equal(moonPhase(parseDate("2025-03-14")), "full moon"); // A lunar one.
  assert.equal(moonPhase(parseDate("1999-08-11")), "new moon");
});
`),
};

export const zodiac: DemoPart = {
  code: file(`
/** Under which sign is one born? */
const SIGNS = [
  ["Capricorn", 19], ["Aquarius", 18], ["Pisces", 20], ["Aries", 19], ["Taurus", 20], ["Gemini", 20],
  ["Cancer", 22], ["Leo", 22], ["Virgo", 22], ["Libra", 22], ["Scorpio", 21], ["Sagittarius", 21],
];

/** Each month begins under one sign, whose last day is beside it, and ends under the next. */
export function zodiac({ month, day }) {
  const [sign, lastDay] = SIGNS[month - 1];
  return day <= lastDay ? sign : SIGNS[month % 12][0];
}
`),
  test: tested(`
import { zodiac } from "../src/zodiac.js";

test("changes within a month, and over the end of the year", () => {
  assert.equal(zodiac({ month: 11, day: 13 }), "Scorpio");
  assert.equal(zodiac({ month: 11, day: 22 }), "Sagittarius");
  assert.equal(zodiac({ month: 12, day: 31 }), "Capricorn");
  assert.equal(zodiac({ month: 1, day: 1 }), "Capricorn");
});
`),
};

export const week: DemoPart & { readonly naive: string } = {
  code: file(`
/** Which ISO week is it? A week belongs to the year that has its Thursday. */
import { dayNumber, fromDayNumber } from "./date.js";

export function isoWeek(date) {
  const number = dayNumber(date);
  const sinceMonday = (((number + 3) % 7) + 7) % 7;
  const thursday = number - sinceMonday + 3;
  const { year } = fromDayNumber(thursday);
  return { year, week: Math.floor((thursday - dayNumber({ year, month: 1, day: 1 })) / 7) + 1 };
}
`),
  /** What one writes who counts weeks from New Year; the test knows better. */
  naive: file(`
/** Which ISO week is it? */
import { dayNumber } from "./date.js";

export function isoWeek(date) {
  const { year } = date;
  const sinceNewYear = dayNumber(date) - dayNumber({ year, month: 1, day: 1 });
  return { year, week: Math.floor(sinceNewYear / 7) + 1 };
}
`),
  test: tested(`
import { parseDate } from "../src/date.js";
import { isoWeek } from "../src/week.js";

test("gives the days around New Year to the year of their Thursday", () => {
  assert.deepEqual(isoWeek(parseDate("2027-01-01")), { year: 2026, week: 53 });
  assert.deepEqual(isoWeek(parseDate("2024-12-30")), { year: 2025, week: 1 });
});
`),
};
