import assert from "node:assert/strict";
import { test } from "node:test";
import { ordinal } from "../src/ordinal.js";

test("says the ends of numbers, teens included", () => {
  const said = [1, 2, 3, 4, 11, 12, 13, 21, 22, 111].map(ordinal);
  assert.deepEqual(said, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "111th"]);
});
