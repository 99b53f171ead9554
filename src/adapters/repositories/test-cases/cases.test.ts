/** Tests that test cases and skips are found in sources of many languages, and that masking keeps lines and lengths. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cpuMs } from "../../../../test/support/cpu.ts";
import { casesIn } from "./cases.ts";
import { helpsTests, loadedByTests } from "./helpers.ts";
import { maskedBoth } from "./mask.ts";

const names = (path: string, text: string) => casesIn(path, text).map(({ name }) => name);

describe("test cases", () => {
  it("are known by their names in many languages", () => {
    const files: readonly (readonly [string, string, readonly string[]])[] = [
      [
        "a.test.ts",
        'it("a", f);\n// it("b", f)\ntest.each([\n  [1],\n])("c %i", f);\nsay("it(");\nit(name, f);',
        ["a", "c %i", "name"],
      ],
      [
        "a.test.js",
        'const itLinux = isLinux ? it : it.skip;\nitLinux("d", f);\n(isOld ? it.skip : it)("e", f);\ntest.before(f);\n/x/.test("y");',
        ["d", "e"],
      ],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: It is the text of a file.
      ["a.test.ts", "test(`a ${`b ${c}`}`, f);\nconst r = /[/\"`]/;\ntest('z', f);", ["a ${`b ${c}`}", "z"]],
      [
        "test_a.py",
        'def test_a():\n    def test(x):\n        pass\n\nclass TestB:\n    async def test_b(self):\n        pass\n\n"""\ndef test_c(): pass\n"""\n',
        ["test_a", "test_b"],
      ],
      [
        "a_test.go",
        "func TestA(t *testing.T) {\n}\nfunc Testing() {}\nfunc (s *Suite) TestB() {}\nfunc TestMain(m *testing.M) {}\n",
        ["TestA", "TestB"],
      ],
      [
        "src/a.rs",
        "#[cfg(test)]\nmod tests {\n    #[test]\n    #[should_panic]\n    fn a() {}\n\n    #[tokio::test]\n    async fn b<'a>() { let c = '\"'; }\n}\n",
        ["a", "b"],
      ],
      [
        "ATest.java",
        'class ATest {\n  @Test\n  @DisplayName("x")\n  public void adds() throws Exception {}\n\n  public void testOld() {}\n}\n',
        ["adds", "testOld"],
      ],
      ["ATest.kt", "class ATest {\n  @Test\n  fun `adds two`() {}\n}\n", ["`adds two`"]],
      ["ATests.cs", "[Fact]\npublic void Adds()\n{\n}\n", ["Adds"]],
      [
        "a_spec.rb",
        'describe A do\n  it "adds" do\n  end\n  it { is_expected.to eq 1 }\nend\n',
        ["adds", "it"],
      ],
      [
        "ATest.php",
        "class ATest {\n  #[Test]\n  public function adds() {}\n  public function testSubtracts() {}\n}\n",
        ["adds", "testSubtracts"],
      ],
      ["ATests.swift", "class ATests {\n  func testAdds() {}\n}\n", ["testAdds"]],
      ["a_test.cc", 'TEST(Sum, Adds) {\n}\nTEST_CASE("subtracts") {\n}\n', ["Sum,Adds", "subtracts"]],
      ["a_test.exs", 'test "adds" do\nend\n', ["adds"]],
      ["a_test.dart", "void main() {\n  test('adds', () {});\n}\n", ["adds"]],
      ["a.unknown", "it('a')", []],
    ];
    for (const [path, text, expected] of files)
      assert.deepEqual(names(path, text), expected, `${path}: ${text}`);
  });

  it("are switched off in many ways, for good or under a condition of the platform", () => {
    const off = "never";
    const files: readonly (readonly [string, string, string | undefined])[] = [
      ["a.test.ts", 'it.skip("x", f);', off],
      ["a.test.ts", 'describe.only("y", () => {\n  it("x", f);\n});', off],
      ["a.test.ts", 'test.todo("x");', off],
      ["a.test.ts", 'test.describe.skip("y", () => {\n  it("x", f);\n});', off],
      ["a.test.ts", 'it("x", { skip: true }, f);', off],
      ["a.test.ts", 'it("x", { skip: "for now" }, f);', off],
      ["a.test.ts", 'it("x", { skip: false }, f);', undefined],
      ["a.test.ts", 'it("x", { skip: process.platform === "win32" }, f);', 'process.platform === "win32"'],
      ["a.test.ts", 'it("x", () => {\n  list.skip(3);\n});', undefined],
      ["a.test.ts", 'it.skipIf(isWindows)("x", f);', "isWindows"],
      ["a.test.ts", 'it.skipIf(true)("x", f);', off],
      ["a_test.go", 'func TestX(t *testing.T) {\n\tt.Skip("later")\n}\n', off],
      [
        "a_test.go",
        'func TestX(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip("long")\n\t}\n}\n',
        "if testing.Short() {",
      ],
      ["a_test.go", "//go:build linux\n\npackage a\n\nfunc TestX(t *testing.T) {\n}\n", "linux"],
      ["a_test.go", "//go:build ignore\n\npackage a\n\nfunc TestX(t *testing.T) {\n}\n", off],
      ["test_a.py", "@unittest.skip('y')\ndef test_x():\n    pass\n", off],
      [
        "test_a.py",
        "@unittest.skipUnless(hasattr(os, 'fork'), 'y')\ndef test_x():\n    pass\n",
        "hasattr(os, 'fork')",
      ],
      ["test_a.py", "pytestmark = pytest.mark.skip\n\ndef test_x():\n    pass\n", off],
      [
        "test_a.py",
        "def test_x():\n    if sys.version_info < (3, 9):\n        pytest.skip('old')\n",
        "if sys.version_info < (3, 9):",
      ],
      ["src/a.rs", "#[test]\n#[ignore]\nfn x() {}\n", off],
      ["src/a.rs", "#[cfg(unix)]\nfn y() {}\n\n#[test]\nfn x() {}\n", undefined],
      ["src/a.rs", "#[test]\n#[cfg(any())]\nfn x() {}\n", off],
      ["ATest.java", '@Disabled("y")\n@Test\nvoid x() {}\n', off],
      ["ATest.java", "@Test\n@DisabledOnOs(OS.WINDOWS)\nvoid x() {}\n", "@DisabledOnOs(OS.WINDOWS)"],
      ["ATests.cs", '[Fact(Skip = "y")]\npublic void x() {}\n', off],
      ["a_spec.rb", 'xit "x" do\nend\n', off],
      ["a_spec.rb", 'it "x" do\n  skip "y" if RUBY_VERSION < "3"\nend\n', 'RUBY_VERSION < "3"'],
      ["ATest.php", "class A {\n  function testX() {\n    $this->markTestSkipped();\n  }\n}\n", off],
      ["a_test.exs", '@tag :skip\ntest "x" do\nend\n', off],
      ["ATests.swift", "func testX() throws {\n  throw XCTSkip()\n}\n", off],
      ["a_test.cc", "TEST(A, DISABLED_x) {\n}\n", off],
    ];
    for (const [path, text, expected] of files) {
      const skip = casesIn(path, text).at(-1)?.skip;
      assert.equal(skip && (skip.condition ?? off), expected, `${path}: ${text}`);
    }
  });

  it("are found in a file of many odd signs without taking long", () => {
    const start = cpuMs();
    for (const text of [
      "`${".repeat(50_000),
      "'".repeat(200_000),
      `/${"[".repeat(200_000)}`,
      'it("a", ('.repeat(20_000),
      "@\n".repeat(50_000),
    ])
      casesIn("a.test.ts", text);
    casesIn("test_a.py", "    @x\n".repeat(20_000));
    casesIn("a_spec.rb", 'it "a" do\n'.repeat(5_000));
    casesIn("ATest.java", `class ATest {\n  @Test\n${"\n".repeat(200)}  int x;\n}\n`);
    casesIn("a.test.ts", 'it.skip("x", f);\n'.repeat(5_000));
    casesIn("a.test.ts", `const a = ${"=".repeat(300)}\n`);
    casesIn("test_a.py", "@pytest.mark.skipif(a and b, c)\ndef test_x():\n    pass\n".repeat(3_000));
    helpsTests("test/a.ts", "\n".repeat(50_000), new Set());
    loadedByTests([{ path: "test/a.ts", text: `it("x", f);\n${"import a\n".repeat(50_000)}` }]);
    loadedByTests([{ path: "test/a.ts", text: `it("x", f);\na = ${" ".repeat(50_000)}` }]);
    assert.ok(cpuMs() - start < 5_000, `${cpuMs() - start} ms`);
  });
});

describe("a text without comments and strings", () => {
  it("is as long as it was, and keeps its lines", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: It is the text of a file.
    const texts = ["a // b\nc", "`a\n${b}`", "'it\\'s'", '"""a\nb"""', "/* a\n*/ b", "'"];
    for (const path of ["a.ts", "a.py", "a.go", "a.rs", "a.rb", "a.php", "a.java", "a.exs"])
      for (const text of texts) {
        const { code, plain } = maskedBoth(path, text);
        for (const one of [code, plain]) {
          assert.equal(one.length, text.length, `${path}: ${text}`);
          assert.equal(one.split("\n").length, text.split("\n").length);
        }
      }
    assert.equal(maskedBoth("a.ts", 'f("b", /c"/, d / e); // g').code.trimEnd(), 'f(" ", /  /, d / e);');
    assert.equal(maskedBoth("a.ts", 'f("b"); // g').plain.trimEnd(), 'f("b");');
  });
});
