import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDate } from "../src/date.js";
import { isoWeek } from "../src/week.js";

test("gives the days around New Year to the year of their Thursday", () => {
  assert.deepEqual(isoWeek(parseDate("2027-01-01")), { year: 2026, week: 53 });
  assert.deepEqual(isoWeek(parseDate("2024-12-30")), { year: 2025, week: 1 });
});
