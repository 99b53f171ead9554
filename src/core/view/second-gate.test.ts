/** Tests the saving by a second gate against numbers computed by hand, with gates of 4 ms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { savedBySecondGate } from "./second-gate.ts";

test("a task that is ready while the only gate is busy would not have waited for it", () => {
  // One gate: 4, then 7, 6 and 5 for those that wait until it is free. Two gates: 4, 4, then 6 and 5.
  assert.equal(savedBySecondGate([0, 1, 2, 3], 4), 22 - 19);
});

test("nothing is saved where one gate was always free, or all were ready at once", () => {
  assert.equal(savedBySecondGate([0, 10, 20], 4), 0);
  assert.equal(savedBySecondGate([5, 5, 5], 4), 0);
  assert.equal(savedBySecondGate([], 4), 0);
});

test("the order in which tasks are told does not matter", () => {
  assert.equal(savedBySecondGate([3, 0, 2, 1], 4), savedBySecondGate([0, 1, 2, 3], 4));
});
