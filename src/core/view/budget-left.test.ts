/** Tests that a run's budget is read from records of every version. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { budgetOf } from "./budget-left.ts";

test("the budget is read off a run's record, whatever else an earlier version wrote there", () => {
  assert.deepEqual(budgetOf({ settings: { budget: { tokens: 5, dollars: 1.5, weeks: 2 } } }), {
    tokens: 5,
    dollars: 1.5,
  });
  for (const settings of [undefined, null, "x", {}, { budget: { tokens: "many" } }])
    assert.deepEqual(budgetOf({ settings }), {});
});
