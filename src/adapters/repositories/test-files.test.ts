import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { caseCount, disabledIn, isTestFile } from "./test-files.ts";

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

const off = (path: string, text: string) =>
  disabledIn([{ path, added: [{ line: 7, text }], removed: [] }]).map((test) => test.slice(path.length + 1));

describe("a test that is switched off", () => {
  it("is known in many languages", () => {
    const lines: readonly (readonly [string, string, string])[] = [
      ["a.test.ts", '  it.skip("x", () => {', "7 it.skip"],
      ["a.test.ts", '  describe.only("x", () => {', "7 describe.only"],
      ["a.test.ts", '  test.todo("x");', "7 test.todo"],
      ["a.test.ts", '  test.describe.skip("x");', "7 test.describe.skip"],
      ["a.test.ts", '  xit("x", () => {', "7 xit"],
      ["a.test.ts", '  it("x", { skip: true }, () => {', '7 it("", { skip'],
      ["a_test.go", '\tt.Skip("later")', "7 t.Skip"],
      ["test_a.py", '@pytest.mark.skipif(True, reason="x")', "7 pytest.mark.skipif"],
      ["test_a.py", '@unittest.skip("x")', "7 @unittest.skip"],
      ["src/a.rs", "    #[ignore]", "7 #[ignore"],
      ["src/ATest.java", '  @Disabled("x")', "7 @Disabled"],
      ["src/ATest.kt", "  @Ignore", "7 @Ignore"],
      ["ATests.cs", '  [Fact(Skip = "x")]', "7 Skip"],
      ["a_spec.rb", '  xit "x" do', "7 xit"],
      ["ATest.php", "  $this->markTestSkipped();", "7 markTestSkipped"],
      ["a_test.exs", "  @tag :skip", "7 @tag :skip"],
    ];
    for (const [path, text, expected] of lines) assert.deepEqual(off(path, text), [expected], text);
  });

  it("is not one that talks about it, and nothing outside of tests", () => {
    for (const text of [
      "// it.skip",
      'is("it.skip(")',
      "iterator.skip(3)",
      "exit(1)",
      "{ skip: false }",
      "fitness(3)",
    ]) {
      assert.deepEqual(off("a.test.ts", text), [], text);
    }
    assert.deepEqual(off("src/a.ts", "it.skip(3)"), []);
  });
});

describe("test cases", () => {
  it("are counted by language, and not in texts or comments", () => {
    assert.equal(caseCount("a.test.ts", 'it("a");\n// it("b")\ntest.each([])("c");\nsay("it(")'), 2);
    assert.equal(
      caseCount("test_a.py", "def test_a():\n  pass\nasync def test_b(): pass\ndef helper(): pass"),
      2,
    );
    assert.equal(caseCount("a_test.go", "func TestA(t *testing.T) {}\nfunc helper() {}"), 1);
    assert.equal(caseCount("tests/a.rs", "#[test]\nfn a() {}\n#[tokio::test]\nasync fn b() {}"), 2);
    assert.equal(caseCount("a.unknown", "it()"), 0);
  });
});
