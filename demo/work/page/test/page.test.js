import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDate } from "../src/index.js";
import { pageOf } from "../src/page.js";

test("a page has a head, the facts and the month", () => {
  const lines = pageOf(parseDate("2026-11-13")).split("\n");
  assert.equal(lines[0], "Friday, 13th of November MMXXVI");
  assert.equal(lines[2], "week     46 of 2026");
  assert.equal(lines[6], "zodiac   Scorpio");
  assert.match(lines.join("\n"), /12\[13\]14/);
});
