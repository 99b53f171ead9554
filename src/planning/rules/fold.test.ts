/** Are two things that are done with the same items one clause, and all others left as they are? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { WORDS } from "../../../test/support/reading.ts";
import { readRequest } from "../reading/read-request.ts";
import { folded } from "./fold.ts";

const fold = (request: string) =>
  folded(readRequest(request, WORDS).clauses).map(({ text, after }) => `${text} <${after}>`);

test("what is read twice is read once", () =>
  assert.deepEqual(
    fold("Review a.ts, b.ts and c.ts and summarize each. Then write a report and fix a bug."),
    ["Review and summarize a.ts, b.ts and c.ts <>", "write a report <0>", "fix a bug <0>"],
  ));

test("what is changed, and what is one thing, stays apart", () => {
  assert.deepEqual(fold("Review a.ts and b.ts and fix them"), ["Review a.ts and b.ts <>", "fix them <0>"]);
  assert.deepEqual(fold("Review a.ts and summarize it"), ["Review a.ts <>", "summarize it <0>"]);
});
