import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDate, sections } from "../src/index.js";

test("the calendar's facts are there", () => {
  const date = parseDate("2026-11-13");
  const facts = sections.calendar.map(([name, fact]) => [name, fact(date)]);
  assert.deepEqual(facts, [["week", "46 of 2026"], ["leap", "no leap year"]]);
});
