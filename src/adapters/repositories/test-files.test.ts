/** Tests which paths count as test files, in many languages. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isTestFile } from "./test-files.ts";

describe("a test file", () => {
  it("is known by its name or its folder, in many languages", () => {
    const tests = [
      ...["src/a.test.ts", "a.spec.jsx", "lib/a_test.go", "test_a.py", "tests/test_a.py", "app/tests.py"],
      ...["spec/a_spec.rb", "src/test/java/ATest.java", "AppTests.swift", "FooIT.java", "UserSpec.scala"],
      ...[
        "test/parser.js",
        "tests/it_works.rs",
        "__tests__/a.js",
        "t/a.t",
        "a.bats",
        "e2e/login.ts",
        "a.cy.ts",
        "types/a.tst.ts",
      ],
    ];
    for (const path of tests) assert.ok(isTestFile(path), path);
  });

  it("is not what tests use, nor what only sounds like one", () => {
    const others = [
      ...[
        "src/a.ts",
        "test/fixtures/a.test.ts",
        "test/support/make.ts",
        "tests/conftest.py",
        "tests/__init__.py",
      ],
      ...[
        "src/latest.ts",
        "src/contest.py",
        "docs/test.md",
        "test/data.json",
        "src/Testament.java",
        "inspect.rb",
      ],
      ...["vendor/a/a_test.go", "test/helpers.js", "src/attest.go"],
    ];
    for (const path of others) assert.ok(!isTestFile(path), path);
  });
});
