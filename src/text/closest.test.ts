/** Tests which known names are suggested for a misspelt one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { closest } from "./closest.ts";

const NAMES = ["workers", "planners", "timeout.work", "base", "gate", "gateTimeout", "2"];

const MEANT: readonly [string, readonly string[]][] = [
  ["wrokers", ["workers"]],
  ["worker", ["workers"]],
  ["WORKERS", ["workers"]],
  ["bse", ["base"]],
  ["gat", ["gate", "gateTimeout"]],
  ["timeout", ["timeout.work"]],
  ["x", []],
  ["1", []],
  ["", []],
  ["something else", []],
];
for (const [written, meant] of MEANT)
  test(`"${written}" may mean ${meant.join(" or ") || "nothing"}`, () => {
    assert.deepEqual(closest(written, NAMES), meant);
  });

test("the nearest comes first, and no more than three", () => {
  assert.deepEqual(closest("abcdef", ["abcxyf", "abcdef", "abcdxf", "abcdeg"]), [
    "abcdef",
    "abcdxf",
    "abcdeg",
  ]);
});

test("a long text takes no long time", () => {
  assert.deepEqual(closest("x".repeat(1_000_000), NAMES), []);
});
