import assert from "node:assert/strict";
import { test } from "node:test";
import { monthTitle } from "../../src/calendar/title.js";

test("stands in the middle", () => {
  assert.equal(monthTitle(2026, 5, 14), "   May 2026");
  assert.equal(monthTitle(2026, 11, 3), "November 2026");
});
