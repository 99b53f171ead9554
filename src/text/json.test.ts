/** Tests the limits on nesting and on the number of values in JSON. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isModestJson } from "./json.ts";

test("a text that nests too deep, or has too many values, is not parsed", () => {
  assert.ok(isModestJson(JSON.stringify({ a: [[[1, 2]]], b: "[[[[,,,," })));
  assert.ok(isModestJson(`"${"[,".repeat(300_000)}"`), "what a string holds does not count");
  assert.ok(isModestJson(`"${'\\"['.repeat(1_000)}"`), "nor behind an escaped quote");
  assert.ok(!isModestJson(`${"[".repeat(101)}${"]".repeat(101)}`));
  assert.ok(!isModestJson(`[${"1,".repeat(300_000)}1]`));
});
