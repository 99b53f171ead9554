import assert from "node:assert/strict";
import { test } from "node:test";
import { renderMonth } from "../../src/calendar/render.js";

test("draws a month with its day in brackets", () => {
  const lines = renderMonth({ year: 2026, month: 11, day: 13 }).split("\n");
  assert.equal(lines[0].trim(), "November 2026");
  assert.equal(lines[1], " Mo Tu We Th Fr Sa Su");
  assert.equal(lines[2], "                    1");
  assert.equal(lines[3], "  2  3  4  5  6  7  8");
  assert.equal(lines[4], "  9 10 11 12[13]14 15");
  assert.equal(lines[7], " 30");
});
