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
