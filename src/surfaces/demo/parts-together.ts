/** What do the demo's later workers write? The parts of the almanac that put the facts together. */
import { type DemoPart, file, tested } from "./parts.ts";

export const grid: DemoPart = {
  code: file(`
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
`),
  test: tested(`
import { weeksOf } from "../../src/calendar/grid.js";

test("a month that begins on a Sunday has six weeks", () => {
  const weeks = weeksOf(2026, 11);
  assert.equal(weeks.length, 6);
  assert.deepEqual(weeks[0], [...Array(6).fill(undefined), 1]);
  assert.equal(weeks[5][0], 30);
});
`),
};

export const title: DemoPart = {
  code: file(`
/** What stands above a month? */
export const MONTHS = [
  "January", "February", "March", "April", "May", "June",
  "July", "August", "September", "October", "November", "December",
];

export function monthTitle(year, month, width) {
  const text = MONTHS[month - 1] + " " + year;
  return " ".repeat(Math.max(0, Math.floor((width - text.length) / 2))) + text;
}
`),
  test: tested(`
import { monthTitle } from "../../src/calendar/title.js";

test("stands in the middle", () => {
  assert.equal(monthTitle(2026, 5, 14), "   May 2026");
  assert.equal(monthTitle(2026, 11, 3), "November 2026");
});
`),
};

export const render: DemoPart = {
  code: file(`
/** How does a month look, with one day marked? */
import { weeksOf } from "./grid.js";
import { monthTitle } from "./title.js";

const HEAD = " Mo Tu We Th Fr Sa Su";

export function renderMonth({ year, month, day }) {
  const cell = (n) => (n === day ? "[" + n + "]" : (n ?? "") + " ").padStart(4);
  const line = (week) => week.map(cell).reduce(join).trimEnd();
  return [monthTitle(year, month, HEAD.length), HEAD, ...weeksOf(year, month).map(line)].join("\\n");
}

/** Cells are four wide and share a column, so that brackets need no room of their own. */
const join = (text, cell) => {
  const [a, b] = [text.at(-1), cell[0]];
  return text.slice(0, -1) + (a === " " ? b : a) + cell.slice(1);
};
`),
  test: tested(`
import { renderMonth } from "../../src/calendar/render.js";

test("draws a month with its day in brackets", () => {
  const lines = renderMonth({ year: 2026, month: 11, day: 13 }).split("\\n");
  assert.equal(lines[0].trim(), "November 2026");
  assert.equal(lines[1], " Mo Tu We Th Fr Sa Su");
  assert.equal(lines[2], "                    1");
  assert.equal(lines[3], "  2  3  4  5  6  7  8");
  assert.equal(lines[4], "  9 10 11 12[13]14 15");
  assert.equal(lines[7], " 30");
});
`),
};

/** Each fills its own line of the two in src/index.js, on whatever the file holds by then. */
export const calendarFacts = {
  imports: `import { isLeap } from "./leap.js";
import { isoWeek } from "./week.js";`,
  list: `  calendar: [
    ["week", (date) => isoWeek(date).week + " of " + isoWeek(date).year],
    ["leap", ({ year }) => (isLeap(year) ? "a leap year" : "no leap year")],
  ],`,
  test: tested(`
import { parseDate, sections } from "../src/index.js";

test("the calendar's facts are there", () => {
  const date = parseDate("2026-11-13");
  const facts = sections.calendar.map(([name, fact]) => [name, fact(date)]);
  assert.deepEqual(facts, [["week", "46 of 2026"], ["leap", "no leap year"]]);
});
`),
};

export const skyFacts = {
  imports: `import { moonPhase } from "./moon.js";
import { season } from "./season.js";
import { zodiac } from "./zodiac.js";`,
  list: `  sky: [
    ["moon", moonPhase],
    ["season", (date) => season(date)],
    ["zodiac", zodiac],
  ],`,
  test: tested(`
import { parseDate, sections } from "../src/index.js";

test("the sky's facts are there", () => {
  const date = parseDate("2026-11-13");
  const facts = sections.sky.map(([name, fact]) => [name, fact(date)]);
  assert.deepEqual(facts, [["moon", "waxing crescent"], ["season", "autumn"], ["zodiac", "Scorpio"]]);
});
`),
};

/** Lands while another worker still uses the old names, in another file: git sees no conflict. */
export const dayNames: DemoPart = {
  code: file(`
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
`),
  test: tested(`
import { parseDate } from "../src/date.js";
import { weekday } from "../src/weekday.js";

test("knows famous days of the week", () => {
  assert.equal(weekday(parseDate("1969-07-20")).long, "Sunday");
  assert.equal(weekday(parseDate("1970-01-01")).long, "Thursday");
  assert.equal(weekday(parseDate("2000-02-29")).long, "Tuesday");
});
`),
};

export const page: DemoPart & { readonly before: string } = {
  /** As it was written when `weekday` still gave a text. */
  get before() {
    return this.code.replace("weekday(date).long", "weekday(date)");
  },
  code: file(`
/** What does the almanac print about a day? */
import { MONTHS } from "./calendar/title.js";
import { renderMonth } from "./calendar/render.js";
import { sections } from "./index.js";
import { ordinal } from "./ordinal.js";
import { roman } from "./roman.js";
import { weekday } from "./weekday.js";

export function pageOf(date) {
  const { year, month, day } = date;
  const head = weekday(date).long + ", " + ordinal(day) + " of " + MONTHS[month - 1] + " " + roman(year);
  const facts = [...sections.calendar, ...sections.sky].map(([name, fact]) => name.padEnd(9) + fact(date));
  return [head, "", ...facts, "", renderMonth(date), ""].join("\\n");
}
`),
  test: tested(`
import { parseDate } from "../src/index.js";
import { pageOf } from "../src/page.js";

test("a page has a head, the facts and the month", () => {
  const lines = pageOf(parseDate("2026-11-13")).split("\\n");
  assert.equal(lines[0], "Friday, 13th of November MMXXVI");
  assert.equal(lines[2], "week     46 of 2026");
  assert.equal(lines[6], "zodiac   Scorpio");
  assert.match(lines.join("\\n"), /12\\[13\\]14/);
});
`),
};

/** One of its tests is flaky: it fails where it is run for the first time, and never again. */
export const command: DemoPart = {
  code: file(`
#!/usr/bin/env node
/** The command: one date, or today. */
import { parseDate } from "../src/index.js";
import { pageOf } from "../src/page.js";

const [text = new Date().toISOString().slice(0, 10)] = process.argv.slice(2);
try {
  process.stdout.write(pageOf(parseDate(text)));
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error("almanac: " + error.message);
  process.exitCode = 2;
}
`),
  test: tested(`
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const almanac = fileURLToPath(new URL("../bin/almanac.js", import.meta.url));
const run = (...args) => spawnSync(process.execPath, [almanac, ...args], { encoding: "utf8" });

test("prints the page of a day", () => {
  const { status, stdout } = run("2026-11-13");
  assert.equal(status, 0);
  assert.match(stdout, /^Friday, 13th of November MMXXVI\\n/);
});

test("refuses a day that does not exist, in words", () => {
  const { status, stderr } = run("2026-02-30");
  assert.equal(status, 2);
  assert.equal(stderr, "almanac: there is no such day: 2026-02-30\\n");
});

// Outside of the project, where there is one: what this test finds depends on who was there before.
const cache = process.env.ALMANAC_CACHE;

test("starts from a warm cache", () => {
  const isWarm = cache === undefined || existsSync(join(cache, "started"));
  if (cache !== undefined) writeFileSync(join(cache, "started"), "");
  assert.ok(isWarm, "nobody has started it here before");
});
`),
};

export const guide = file(`
# almanac

What kind of day is it?

    node bin/almanac.js 2026-11-13
    node bin/almanac.js              # today

Seasons are counted by whole months and are those of the north; \`season(date, "south")\` knows the others.
\`npm test\` runs the tests. SPEC.md says what belongs here.
`);
