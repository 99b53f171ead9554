/** Tests which files, patterns and tests of the repository a plan names as context. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, factsOf } from "../../test/plans/parts.ts";
import { planByRules } from "./by-rules.ts";

const context = (request: string, files: readonly string[]) =>
  planByRules(request, around({ facts: factsOf(files) })).context;

test("files that are named come first, then those that share words, most first", () => {
  const files = [
    "src/cart/discountCode.ts",
    "src/cart/discounts.ts",
    "src/main.ts",
    "src/price.ts",
    "docs/other.md",
  ];
  assert.deepEqual(context("Fix the discount codes in src/price.ts", files).files, [
    "src/price.ts",
    "src/cart/discountCode.ts",
    "src/cart/discounts.ts",
  ]);
});

test("no more files than somebody opens", () => {
  const files = Array.from({ length: 100 }, (_, i) => `src/parser/${i}.ts`);
  assert.equal(context("Fix the parser", files).files.length, 20);
});

test("where tests sit is told from the paths", () => {
  assert.ok(
    context("Fix the parser", ["src/a.test.ts", "src/a.ts"]).patterns.includes(
      "Tests sit beside the sources.",
    ),
  );
  assert.ok(
    context("Fix the parser", ["src/a.ts", "test/a.test.ts"]).patterns.includes(
      "Tests have folders of their own.",
    ),
  );
});

test("an empty request has no context", () => {
  assert.deepEqual(context("", ["src/a.ts"]), { files: [], patterns: [], tests: [] });
});
