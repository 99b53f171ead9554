import assert from "node:assert/strict";
import { test } from "node:test";
import { roman } from "../src/roman.js";

test("writes years as on old buildings", () => {
  assert.deepEqual([1666, 1994, 2026].map(roman), ["MDCLXVI", "MCMXCIV", "MMXXVI"]);
});
