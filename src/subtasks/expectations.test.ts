/** Tests results against what was expected of them: JSON Schemas, named formats and words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { once, reasonOf, registryOf, teamOf, template } from "../../test/support/subtasks.ts";
import { executeTask } from "./execute.ts";
import { checkExpectation, NAMED_FORMATS, unusableExpectation } from "./expectations.ts";

const schema = {
  type: "object",
  required: ["ok"],
  properties: { ok: { type: "boolean" } },
  additionalProperties: false,
};

test("a JSON Schema is kept, as an object or as text, also in a fence", () => {
  for (const expectation of [schema, JSON.stringify(schema)]) {
    assert.deepEqual(checkExpectation('{"ok": true}', expectation), { is: "fits" });
    assert.deepEqual(checkExpectation('```json\n{"ok": true}\n```', expectation), { is: "fits" });
    const unlike = checkExpectation('{"ok": 1, "more": 2}', expectation);
    assert.ok(unlike.is === "unlike" && unlike.problems.some((problem) => problem.startsWith("#/ok: ")));
    assert.equal(checkExpectation("fine!", expectation).is, "unlike");
  }
});

test("named formats", () => {
  assert.deepEqual(NAMED_FORMATS, ["json", "text", "markdown", "list", "number", "boolean"]);
  for (const [format, good, bad] of [
    ["json", "[1]", "[1"],
    ["text", "words", "  "],
    ["Markdown", "# A\n\n```sh\nls\n```", "# A\n\n```sh\nls"],
    ["list", "- a\n- b\n  more of b\n\n1. c", "a\nb"],
    ["number", "-1.5e3", "about 7"],
    ["boolean", "True", "yes"],
  ] as const) {
    assert.equal(checkExpectation(good, format).is, "fits", `${format}: ${good}`);
    assert.equal(checkExpectation(bad, format).is, "unlike", `${format}: ${bad}`);
  }
});

test("anything else is words for the reader: a name that every object has, and a brace that is no JSON", () => {
  for (const words of ["a short verdict", "constructor", "{one of: yes, no}"])
    assert.equal(checkExpectation("x", words).is, "unchecked");
});

test("a pattern that takes years and a schema that refers to itself end soon", () => {
  const slow = checkExpectation(JSON.stringify(`${"a".repeat(60)}!`), { pattern: "^(a+)+$" });
  assert.ok(slow.is === "unlike" && /timed out/.test(slow.problems.join()));
  assert.match(unusableExpectation({ $ref: "#" }) ?? "", /cannot be used/);
  assert.match(unusableExpectation({ $ref: "http://example.com/s" }) ?? "", /cannot be used/);
});

test("a result that is not as expected fails, and is kept whole as a partial result", async () => {
  const { handler, of } = teamOf({
    parent: once("child", { return_expectations: JSON.stringify(schema) }, () => "done"),
    child: () => "All is well.",
  });
  await executeTask(template("parent"), {}, { handler, registry: registryOf(template("child")) });
  const { result } = of("parent")[1]!.responses[0]!;
  assert.equal(reasonOf(result), "subtask_failure");
  const { originalError, partialResults } = result.notes.error!.details!;
  assert.ok(originalError?.type === "TASK_FAILURE" && originalError.reason === "output_format_failure");
  assert.equal(partialResults, "All is well.");
  assert.equal(result.content, "All is well.");
  assert.match(of("child")[0]!.input, /Answer as: \{"type":"object"/);
});

test("a result that is too long is checked whole, and cut afterwards", async () => {
  const { handler, of } = teamOf({
    parent: once("child", { return_expectations: "json" }, () => "done"),
    child: () => JSON.stringify(Array.from({ length: 10_000 }, (_, n) => n)),
  });
  const registry = registryOf(template("child"));
  await executeTask(template("parent"), {}, { handler, registry, limits: { resultTokens: 500 } });
  const { result } = of("parent")[1]!.responses[0]!;
  assert.equal(result.status, "COMPLETE", JSON.stringify(result.notes));
  assert.match(result.content, /the whole is kept as artefact-/);
});

test("words are told to the child, and that they were not checked is a warning", async () => {
  const { handler, of } = teamOf({ a: () => "fine" });
  const { status, notes } = await executeTask(
    template("a", { return_expectations: "a short verdict" }),
    {},
    { handler },
  );
  assert.equal(status, "COMPLETE");
  assert.match(String(notes["warnings"]), /was not checked/);
  assert.match(of("a")[0]!.input, /Answer as: a short verdict/);
});

test("a type that JSON Schema does not know is the mistake of whoever wrote it, not of a result", () => {
  for (const unknown of [
    { type: "strng" },
    { type: ["string", "text"] },
    { properties: { a: { items: { type: "int" } } } },
    { $defs: { const: { type: "float" } } },
    { allOf: [{ not: { type: "strng" } }] },
    { additionalProperties: { type: "int" } },
    { dependencies: { type: { type: "int" } } },
  ])
    assert.match(
      unusableExpectation(unknown) ?? "",
      /"(?:strng|text|int|float)" is no type; there are string,/,
    );
  for (const known of [
    { type: ["string", "null"] },
    { properties: { type: { type: "string" }, enum: { type: "array" } } },
    { const: { type: "anything" }, enum: [{ type: "else" }], default: { type: "x" } },
    { dependentRequired: { type: ["unit"] }, "x-shown": { type: "table" } },
  ])
    assert.equal(unusableExpectation(known), undefined);
});
