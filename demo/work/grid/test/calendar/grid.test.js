import assert from "node:assert/strict";
import { test } from "node:test";
import { weeksOf } from "../../src/calendar/grid.js";

test("a month that begins on a Sunday has six weeks", () => {
  const weeks = weeksOf(2026, 11);
  assert.equal(weeks.length, 6);
  assert.deepEqual(weeks[0], [...Array(6).fill(undefined), 1]);
  assert.equal(weeks[5][0], 30);
});
