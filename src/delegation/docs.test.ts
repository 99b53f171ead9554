/** Does docs/specialists.md list the specialists that are built in? */
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
  // The fields of a file are in a table of the same form: only names of specialists have such keywords.
  assert.deepEqual(
    listed.slice(-withBuiltIn([]).length),
    withBuiltIn([]).map(({ name, isReadOnly, keywords }) => [name, isReadOnly, keywords]),
  );
});
