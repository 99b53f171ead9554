/** Tests that JSON objects and lists are found in text, also when they are cut off or broken. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { findJson, type Json, placeOf } from "./json-salvage.ts";

type JsonFound = ReturnType<typeof findJson> extends Iterable<infer One> ? One : never;

const wholes = (text: string) =>
  [...findJson(text)].flatMap((found) => (found.is === "whole" ? [found.value] : []));
const only = (text: string): JsonFound => {
  const found = [...findJson(text)];
  assert.equal(found.length, 1, `found ${found.length} in ${text}`);
  return found[0]!;
};

/** The result of `JSON.parse` with objects as maps. */
function inMaps(value: unknown): Json {
  if (Array.isArray(value)) return value.map(inMaps);
  if (typeof value !== "object" || value === null) return value as Json;
  return new Map(Object.entries(value).map(([key, inner]) => [key, inMaps(inner)]));
}

describe("findJson", () => {
  test("reads any JSON object or list as JSON.parse does, also in prose", () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom("", "\ufeff", "Here: ", "```json\n"), (json, before) => {
        const parsed: unknown = JSON.parse(json);
        const expected = typeof parsed === "object" && parsed !== null ? [inMaps(parsed)] : [];
        // A bare string may contain brackets, so only values that are not strings can be compared.
        if (typeof parsed !== "string") assert.deepEqual(wholes(`${before}${json}\n`), expected);
      }),
      { numRuns: 5_000 },
    );
  });

  test("a value that ends early is cut, wherever it ends", () => {
    const text = '{"a": [1, -2.5e3, true, null, "x\\u00e9\\n{"], "b": {"c": {}}, // why\n"d": false}';
    for (let end = 1; end < text.length; end += 1)
      assert.equal(only(text.slice(0, end)).is, "cut", text.slice(0, end));
    assert.equal(only(text).is, "whole");
  });

  test("says what was open, outermost first, and keeps what was complete", () => {
    const found = only('{"a": 1, "tasks": [{"id": "x"}, {"id": "y", "desc');
    assert.ok(found.is === "cut");
    const [outer, tasks, second] = found.open;
    assert.equal(found.open.length, 3);
    assert.deepEqual(tasks, [new Map([["id", "x"]]), new Map([["id", "y"]])]);
    assert.ok(outer instanceof Map && outer.get("tasks") === tasks);
    assert.ok(Array.isArray(tasks) && tasks[1] === second);
  });

  test("a key whose value had only begun holds null", () => {
    const found = only('{"a": "unfinis');
    assert.ok(found.is === "cut");
    assert.deepEqual(found.open, [new Map([["a", null]])]);
  });

  test("a number at the very end may be the half of one", () => {
    const found = only("[1, 2");
    assert.ok(found.is === "cut");
    assert.deepEqual(found.open, [[1]]);
  });

  test("forgives commas before the end, comments, and line breaks in strings", () => {
    assert.deepEqual(wholes('{"a": [1, 2,], // two\n "b": "x\ny",}'), [
      new Map<string, Json>([
        ["a", [1, 2]],
        ["b", "x\ny"],
      ]),
    ]);
  });

  test("an escape that JSON does not know stands for itself", () => {
    assert.deepEqual(wholes(String.raw`["\d+\.ts", "it\'s", "\u12", "\uD83D\uDE00"]`), [
      ["\\d+.ts", "it's", "\\u12", "😀"],
    ]);
  });

  test("goes on behind braces that are prose", () => {
    assert.deepEqual(wholes('use {x}, {"id"}, [see below], {" and\n{"a": 1} [2] {'), [
      new Map([["a", 1]]),
      [2],
    ]);
  });

  test("a key written twice breaks the object", () => {
    const [found] = findJson('{"tasks": [1], "tasks": []}');
    assert.ok(found?.is === "broken");
    assert.match(found.why, /written twice/);
  });

  test("__proto__ and constructor are keys like any other", () => {
    const [value] = wholes('{"__proto__": {"polluted": true}, "constructor": 1}');
    assert.ok(value instanceof Map);
    assert.deepEqual([...value.keys()], ["__proto__", "constructor"]);
    assert.equal("polluted" in {}, false);
  });

  test("a million open brackets are broken pieces, not a stack overflow", () => {
    for (const text of ["[".repeat(1_000_000), '{"a":'.repeat(100_000), "[{".repeat(100_000)]) {
      for (const found of findJson(text)) {
        assert.notEqual(found.is, "whole");
        assert.ok(found.is !== "whole" && found.open.length <= 64);
      }
    }
  });

  for (const broken of [
    "[tru]",
    "[01]",
    "[1 2]",
    '{"a" 1}',
    "{a: 1}",
    "{'a': 1}",
    "[,]",
    "[NaN]",
    "[1}",
    '{"a\n": 1}',
  ]) {
    test(`${JSON.stringify(broken)} is not JSON`, () => assert.deepEqual(wholes(broken), []));
  }
});

test("a place is said in lines and columns, from one", () => {
  assert.equal(placeOf("ab\ncd", 0), "line 1, column 1");
  assert.equal(placeOf("ab\ncd", 4), "line 2, column 2");
});
