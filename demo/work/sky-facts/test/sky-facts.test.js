import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDate, sections } from "../src/index.js";

test("the sky's facts are there", () => {
  const date = parseDate("2026-11-13");
  const facts = sections.sky.map(([name, fact]) => [name, fact(date)]);
  assert.deepEqual(facts, [["moon", "waxing crescent"], ["season", "autumn"], ["zodiac", "Scorpio"]]);
});
