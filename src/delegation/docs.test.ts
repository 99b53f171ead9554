/** Tests that docs/specialists.md lists the built-in specialists. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { withBuiltIn } from "./specialist-table.ts";

const page = readFileSync(path.join(import.meta.dirname, "../../docs/specialists.md"), "utf8");

test("the page has the table as it is", () => {
  const listed = [...page.matchAll(/^\| `([\w-]+)`( \(reads\))? \| (.*) \|$/gm)].map(
    ([, name, readOnly, keywords = ""]) => [name, readOnly !== undefined, keywords.split(", ")],
  );
  // The page has another table of the same form, for the fields of a file: only rows of specialists have such keywords.
  assert.deepEqual(
    listed.slice(-withBuiltIn([]).length),
    withBuiltIn([]).map(({ name, isReadOnly, keywords }) => [name, isReadOnly, keywords]),
  );
});
