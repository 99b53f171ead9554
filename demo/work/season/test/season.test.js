import assert from "node:assert/strict";
import { test } from "node:test";
import { season } from "../src/season.js";

test("turns with the months", () => {
  assert.deepEqual(
    [1, 3, 8, 11, 12].map((month) => season({ month })),
    ["winter", "spring", "summer", "autumn", "winter"],
  );
});
