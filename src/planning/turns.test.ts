/** Do tasks wait for what they follow, and never two at once change the same? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Draft, turnsOf } from "./turns.ts";

const draft = (given: Partial<Draft>): Draft => ({
  ...{ subject: "Mend it", description: "Mend it.", words: "Mend it.", delivers: "change" },
  ...{ scope: [], reads: [], requirements: [], after: [] },
  ...{ isImperative: true, isCollected: false, isShared: false },
  ...given,
});
const scopes = (...all: readonly (readonly string[])[]) => turnsOf(all.map((scope) => draft({ scope })));

test("each two whose scopes overlap are in an order, also where a folder holds the other's file", () => {
  assert.deepEqual(scopes(["a/"], ["a/x"], ["a/y"], ["b"], ["a/"]), [[], [0], [0], [], [1, 2]]);
});

test("what is waited for by way of another is not named", () => {
  const all = [[], [0], [0, 1], [0, 1, 2]].map((after) => draft({ after }));
  assert.deepEqual(turnsOf(all), [[], [0], [1], [2]]);
});

test("one file to read or one thing in backticks is an order for changes, not for reports", () => {
  const words = "Use `parse` here.";
  assert.deepEqual(turnsOf([draft({ words }), draft({}), draft({ words })]), [[], [], [0]]);
  assert.deepEqual(turnsOf([draft({ reads: ["a"] }), draft({ reads: ["a", "b"] })]), [[], [0]]);
  assert.deepEqual(turnsOf([draft({ words, isShared: true }), draft({ words, isShared: true })]), [[], []]);
  const report = draft({ reads: ["a"], delivers: "report" });
  assert.deepEqual(turnsOf([report, report, draft({ reads: ["a"] })]), [[], [], []]);
});
