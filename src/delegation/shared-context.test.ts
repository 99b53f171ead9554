/** Tests the text that hands the outputs of dependencies to a task, and its limit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { handedContext, MIN_CONTEXT_CHARS } from "./shared-context.ts";

const outputs = (given: Record<string, unknown>) => new Map(Object.entries(given));

test("what fits is handed over whole, in the order of the dependencies", () => {
  const context = handedContext(
    ["b", "a", "b"],
    outputs({ a: "one", b: { two: 2 }, c: "not asked for" }),
    1000,
  );
  assert.deepEqual(context, {
    text: '--- output of b ---\n{\n  "two": 2\n}\n--- output of a ---\none\n',
    cut: [],
    missing: [],
  });
});

test("a dependency without output is named", () => {
  assert.deepEqual(handedContext(["a", "b"], outputs({ a: undefined }), 1000).missing, ["b"]);
  assert.equal(handedContext([], outputs({}), 1000).text, "");
});

test("a long output is cut where it is too long, and says so; a short one beside it stays whole", () => {
  const { text, cut } = handedContext(
    ["long", "short"],
    outputs({ long: "x".repeat(5000), short: "all of it" }),
    500,
  );
  assert.deepEqual(cut, ["long"]);
  assert.match(text, /^--- output of long ---\nx{200,}\n\[cut: 5000 characters in all\]\n/);
  assert.match(text, /--- output of short ---\nall of it\n$/);
});

test("when there are too many even to mention, those left out are counted", () => {
  const ids = Array.from({ length: 100 }, (_, i) => `task-${i}`);
  const { text, cut } = handedContext(ids, new Map(ids.map((id) => [id, "word ".repeat(20)])), 300);
  assert.match(text, /\[left out, too long: 100 of 100 outputs\]\n$/);
  assert.equal(cut.length, 100);
});

test("a character of two units is not cut in half", () => {
  for (const length of [300, 301]) {
    const { text } = handedContext(["a"], outputs({ a: "🧵".repeat(1000) }), length);
    assert.ok(text.isWellFormed());
  }
});

test("what cannot be written as JSON is still handed over", () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  assert.match(handedContext(["a"], outputs({ a: circular }), 500).text, /\[object Object\]/);
  assert.match(handedContext(["a"], outputs({ a: 1n }), 500).text, /\n1\n/);
});

test("the text never exceeds its limit, and nothing is cut that fits", () => {
  const entries = fc.array(fc.tuple(fc.string({ maxLength: 60 }), fc.string({ maxLength: 400 })), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(entries, fc.integer({ min: MIN_CONTEXT_CHARS, max: 3000 }), (given, limit) => {
      const known = new Map(given);
      const { text, cut } = handedContext([...known.keys()], known, limit);
      assert.ok(text.length <= limit, `${text.length} > ${limit}`);
      const whole = handedContext([...known.keys()], known, Infinity);
      assert.deepEqual(whole.cut, []);
      if (whole.text.length <= limit) assert.equal(text, whole.text);
      else assert.notEqual(cut.length, 0);
    }),
  );
});
