import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { doubledKeys } from "./doubled-keys.ts";
import { readPlan } from "./read-plan.ts";

describe("a key that stands twice in one object", () => {
  test("is found with its place, wherever it is", () => {
    assert.deepEqual(doubledKeys('{"a": 1, "a": 2}'), ["a"]);
    assert.deepEqual(
      doubledKeys('{"tasks": [{"id": 1}, {"id": 2, "metadata": {"x": [1, {"y": 1}], "x": 2}, "id": 3}]}'),
      ["tasks[1].metadata.x", "tasks[1].id"],
    );
    assert.deepEqual(doubledKeys('[[{"k": "{", "k": "}"}], {"k": ","}]'), ["[0][0].k"]);
    assert.deepEqual(doubledKeys('{"a\\u0062": 1, "ab": 2}'), ["ab"]);
  });

  test("is none where keys are alike in different objects, or only values are", () => {
    for (const text of [
      '{"a": {"a": {"a": "a"}}}',
      '[{"a": 1}, {"a": 1}]',
      '{"a": "a", "b": "a,b:{a"}',
      '{"": "a", "a": 1}',
      "[]",
      '"a"',
      "",
    ])
      assert.deepEqual(doubledKeys(text), [], text);
  });

  test("breaks a plan: a criterion that was written would not be tried", () => {
    const task =
      '{"id": "a", "subject": "a", "description": "a", "success_criterion": "x", "success_criterion": "y"}';
    const read = readPlan(`{"tasks": [${task}]}`);
    assert.ok(read.is === "broken");
    assert.deepEqual(
      read.problems.map(({ place }) => place),
      ["tasks[0].success_criterion"],
    );
  });

  test("is looked for in time proportional to the text", () => {
    const long = `{"a": "${'x\\"'.repeat(1_000_000)}", "a": [${"[".repeat(5_000)}${"]".repeat(5_000)}]}`;
    assert.deepEqual(doubledKeys(long), ["a"]);
    assert.deepEqual(doubledKeys(`{"a": "${"\\n".repeat(5_000_000)}", "a": "\\\\"}`), ["a"]);
  });
});
