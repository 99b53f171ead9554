import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDate } from "../src/date.js";
import { weekday } from "../src/weekday.js";

test("knows famous days of the week", () => {
  assert.equal(weekday(parseDate("1969-07-20")).long, "Sunday");
  assert.equal(weekday(parseDate("1970-01-01")).long, "Thursday");
  assert.equal(weekday(parseDate("2000-02-29")).long, "Tuesday");
});
