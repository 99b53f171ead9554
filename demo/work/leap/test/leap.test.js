import assert from "node:assert/strict";
import { test } from "node:test";
import { isLeap } from "../src/leap.js";

test("every fourth year is a leap year, but of the full centuries only every fourth", () => {
  assert.deepEqual([2024, 2026, 1900, 2000].map(isLeap), [true, false, false, true]);
});
