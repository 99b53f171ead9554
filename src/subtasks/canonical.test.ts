/** Tests canonical JSON and the signatures of subtasks. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalJson, signatureOf } from "./canonical.ts";

const textOf = (value: unknown) => {
  const written = canonicalJson(value);
  return "text" in written ? written.text : assert.fail(written.problem);
};

/** The same value, with the keys of every object in another order. */
const shuffled = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(shuffled)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, inner]) => [key, shuffled(inner)]),
        )
      : value;

test("any JSON comes out as JSON of the same value, and the order of keys does not count", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.deepEqual(JSON.parse(textOf(value)), JSON.parse(JSON.stringify(value)));
      assert.equal(textOf(shuffled(value)), textOf(value));
      assert.equal(textOf(JSON.parse(textOf(value))), textOf(value));
    }),
  );
});

test("different values are written differently", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const areEqual = fc.stringify(JSON.parse(textOf(a))) === fc.stringify(JSON.parse(textOf(b)));
      if (areEqual) assert.equal(textOf(a), textOf(b));
      else assert.notEqual(textOf(a), textOf(b));
    }),
  );
});

test("the example of RFC 8785 is written as there", () => {
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
    literals: [null, true, false],
  };
  const expected =
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}';
  assert.equal(textOf(value), expected);
});

test("dates are written as JSON writes them, what is undefined is left out, what JSON cannot say has its place", () => {
  assert.equal(textOf({ at: new Date(0), gone: undefined }), '{"at":"1970-01-01T00:00:00.000Z"}');
  for (const [value, why] of [
    [{ a: [1, undefined] }, "1 is undefined, which JSON cannot say"],
    [{ a: 1n }, "a is bigint, which JSON cannot say"],
    [{ a: new Set() }, "a is a Set, which JSON cannot say"],
    [Infinity, "the value is Infinity, which JSON cannot say"],
  ] as const)
    assert.deepEqual(canonicalJson(value), { problem: why });
});

test("the limit is on what is written", () => {
  assert.ok("text" in canonicalJson("x".repeat(98), 100));
  for (const value of ["x".repeat(99), { ["k".repeat(120)]: 1 }, Array.from({ length: 101 }, () => 1)])
    assert.deepEqual(canonicalJson(value, 100), { problem: "longer than 100 characters" });
});

test("a signature is SHA-256 of the identity as canonical JSON", () => {
  const identity = {
    template: "v",
    type: "t",
    subtype: "s",
    description: 'say "hi"',
    file_paths: ["b", "a"],
  };
  const inputs = { z: 1, a: { y: [2], x: "ü" } };
  const text = textOf({ ...identity, inputs });
  assert.equal(signatureOf({ ...identity, inputs: textOf(inputs) }), hash("sha256", text, "hex"));
});
