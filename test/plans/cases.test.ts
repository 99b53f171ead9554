/** Tests that the requests in test/plans/cases give plans with the properties that people judged to be right. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { casesIn, checkCase } from "./case.ts";

const FILES = readdirSync(path.join(import.meta.dirname, "cases")).sort();

for (const file of FILES)
  describe(`plans of ${file}`, () => {
    for (const given of casesIn(file)) it(given.why, () => checkCase(given));
  });

it("the collection has every worked example and more messy requests than these", () => {
  assert.ok(FILES.flatMap(casesIn).length >= 40);
});
