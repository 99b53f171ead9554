/** Tests the summary of several delegated tasks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aggregateResults, type DelegatedResult } from "./aggregate.ts";

const result = (taskId: string, retries: number, error?: string): DelegatedResult => ({
  taskId,
  subagent: "debugger",
  retries,
  result: {
    success: error === undefined,
    output: "",
    duration: 10,
    ...(error === undefined ? {} : { error }),
  },
});

test("all done: a success with its totals", () => {
  assert.deepEqual(aggregateResults([result("a", 0), result("b", 0)]), {
    success: true,
    total: 2,
    completed: 2,
    failed: 0,
    totalRetries: 0,
    totalDuration: 20,
    summary: "Completed 2/2 tasks.",
  });
});

test("a failure makes the whole fail and is told with its reason", () => {
  const whole = aggregateResults([result("a", 1), result("b", 3, "no such file"), result("c", 0, "")]);
  assert.equal(whole.success, false);
  assert.deepEqual([whole.completed, whole.failed, whole.totalRetries], [1, 2, 4]);
  assert.equal(
    whole.summary,
    "Completed 1/3 tasks, with 4 retries.\n" +
      "- b (debugger) failed after 3 retries: no such file\n" +
      "- c (debugger) failed: no reason was given",
  );
});

test("a reason takes one line of bounded length", () => {
  const { summary } = aggregateResults([
    result("a", 1, "  first\r\nsecond"),
    result("b", 0, "x".repeat(9999)),
  ]);
  const lines = summary.split("\n");
  assert.deepEqual(lines.slice(0, 2), [
    "Completed 0/2 tasks, with 1 retry.",
    "- a (debugger) failed after 1 retry: first …",
  ]);
  assert.ok((lines[2] as string).length < 400 && lines.length === 3);
});

test("of nothing, nothing failed", () => {
  assert.equal(aggregateResults([]).success, true);
  assert.equal(aggregateResults([]).summary, "Completed 0/0 tasks.");
  assert.equal(aggregateResults([result("a", 0)]).summary, "Completed 1/1 task.");
});
