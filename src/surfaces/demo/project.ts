/** What is there before the demo's run begins? A small almanac, specified, hardly begun, and not quite green. */
import { file } from "./parts.ts";

export const demoGoal = "Build the almanac that SPEC.md describes, with tests for every part.";

/** By path. Plain JavaScript without dependencies: its tests run wherever Node does, with nothing to install. */
export const demoProject = (): Readonly<Record<string, string>> => ({
  "SPEC.md": SPEC,
  "README.md": README,
  "package.json": PACKAGE,
  "src/index.js": INDEX,
  "src/date.js": DATE,
  "test/all.js": ALL_TESTS,
  "test/date.test.js": DATE_TEST,
});

const SPEC = file(`
# An almanac

One day, one page. \`node bin/almanac.js 2026-11-13\` prints what an almanac has to say about that day:

    Friday, 13th of November MMXXVI

    week     46 of 2026
    leap     no leap year
    moon     waxing crescent
    season   autumn
    zodiac   Scorpio

        November 2026
     Mo Tu We Th Fr Sa Su
                        1
      2  3  4  5  6  7  8
      9 10 11 12[13]14 15
     16 17 18 19 20 21 22
     23 24 25 26 27 28 29
     30

1. Each fact is a module of its own in \`src\`, a pure function of a date, with a test.
2. \`src/index.js\` lists the facts in two sections: what the calendar says, and what the sky says.
3. \`src/calendar\` draws a month, weeks begin on Monday, the day itself in brackets.
4. Weeks are ISO weeks: the first week of a year is the one with its first Thursday.
5. A date that does not exist is refused in words, with exit code 2.
`);

const README = file(`
# almanac

What kind of day is it? See SPEC.md for what this is going to be.
`);

const PACKAGE = `${JSON.stringify(
  {
    name: "almanac",
    version: "0.0.0",
    private: true,
    type: "module",
    scripts: { test: "node test/all.js" },
  },
  undefined,
  2,
)}\n`;

/** The two lists are on neighbouring lines: the two workers that fill them conflict here. */
const INDEX = file(`
/** What does the almanac know about a day? Facts, each with a name and a function of a date. */
export { parseDate } from "./date.js";

// The calendar's facts.

// The sky's facts.

export const sections = {
  calendar: [],
  sky: [],
};
`);

/** A guard that was left behind: the gate fails on the base, and the first check finds it. */
export const LEFT_BEHIND = `  if (year < 1970) throw new RangeError("no days before 1970 yet: " + year);
`;

const DATE = file(`
/** Which day is meant? A date is { year, month, day }, by the Gregorian calendar. */
const DAY_MS = 86_400_000;

/** Days since 1970-01-01. */
export function dayNumber({ year, month, day }) {
${LEFT_BEHIND}  return Date.UTC(year, month - 1, day) / DAY_MS;
}

export function fromDayNumber(number) {
  const at = new Date(number * DAY_MS);
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() };
}

export function parseDate(text) {
  const match = /^([1-9]\\d{3})-(\\d\\d)-(\\d\\d)$/.exec(text);
  if (!match) throw new RangeError("not a date like 2026-11-13: " + text);
  const [year, month, day] = match.slice(1).map(Number);
  const real = fromDayNumber(dayNumber({ year, month, day }));
  if (real.month !== month || real.day !== day) throw new RangeError("there is no such day: " + text);
  return real;
}
`);

const DATE_TEST = file(`
import assert from "node:assert/strict";
import { test } from "node:test";
import { dayNumber, fromDayNumber, parseDate } from "../src/date.js";

test("reads a date", () => {
  assert.deepEqual(parseDate("2026-11-13"), { year: 2026, month: 11, day: 13 });
});

test("refuses what is no date, and days that do not exist", () => {
  for (const text of ["", "2026-1-1", "13.11.2026", "2026-02-29", "2026-13-01"]) {
    assert.throws(() => parseDate(text), RangeError, text);
  }
});

test("numbers days, before 1970 too", () => {
  assert.equal(dayNumber({ year: 1970, month: 1, day: 1 }), 0);
  assert.equal(dayNumber({ year: 1969, month: 12, day: 31 }), -1);
  assert.deepEqual(fromDayNumber(-1), { year: 1969, month: 12, day: 31 });
});
`);

/** One process for all tests: a run of the gate takes 110 ms; with one process a file it took 1.7 s. */
const ALL_TESTS = file(`
/** Runs every *.test.js below this folder, in one process. */
import { readdirSync } from "node:fs";

const here = new URL(".", import.meta.url);
const files = readdirSync(here, { recursive: true }).filter((name) => name.endsWith(".test.js"));
for (const name of files.sort()) await import(new URL(name, here));
`);
