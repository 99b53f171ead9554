import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDate } from "../src/date.js";
import { moonPhase } from "../src/moon.js";

test("was dark and full when it should be", () => {
  assert.equal(moonPhase(parseDate("2024-04-08")), "new moon"); // A solar eclipse.
  assert.equal(moonPhase(parseDate("2025-03-14")), "full moon"); // A lunar one.
  assert.equal(moonPhase(parseDate("1999-08-11")), "new moon");
});
