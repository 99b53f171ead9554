/** Tests the order of the tasks in a plan by rules: tasks that change the same thing never run at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Draft, turnsOf } from "./turns.ts";

const draft = (given: Partial<Draft>): Draft => ({
  ...{ subject: "Mend it", description: "Mend it.", words: "Mend it.", delivers: "change" },
  ...{ scope: [], reads: [], requirements: [], after: [] },
  ...{ isImperative: true, isCollected: false, names: [] },
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

test("one name that two changes have in common is an order for them, not for reports", () => {
  const named = (...names: readonly string[]) => draft({ names });
  assert.deepEqual(turnsOf([named("`parse`"), named(), named("`parse`")]), [[], [], [0]]);
  assert.deepEqual(turnsOf([named("a"), named("a", "b")]), [[], [0]]);
  const report = draft({ names: ["a"], delivers: "report" });
  assert.deepEqual(turnsOf([report, report, named("a")]), [[], [], []]);
});

test("a file that all read is no reason to wait", () => {
  assert.deepEqual(turnsOf([draft({ reads: ["a"] }), draft({ reads: ["a"] })]), [[], []]);
});
