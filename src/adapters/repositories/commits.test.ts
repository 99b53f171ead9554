/** Tests the evidence of honest commits as real projects make them: moved, split, renamed and skipped tests, marks. */
import { describe } from "node:test";
import { checkCommits, go, js, py, suite } from "../../../test/support/judged-commits.ts";

const table = (name: string, call: string) =>
  `func ${name}(t *testing.T) {\n\tfor _, one := range []struct{ given, want string }{\n\t\t{"1+2", "sum"},\n\t\t{"1*2", "product"},\n\t} {\n\t\tif got := ${call}(one.given); got.Kind != one.want {\n\t\t\tt.Errorf("%q is %q", one.given, got.Kind)\n\t\t}\n\t}\n}\n`;

describe("a commit as real projects make them", () => {
  checkCommits([
    {
      what: "splits a test file into a folder",
      task: "Split the utils tests",
      before: {
        "tests/test_utils.py": `import click\n\n\n${py("echo", 1)}\n\n${py("prompt", 2)}\n\n${py("open_file", 3)}`,
      },
      after: {
        "tests/test_utils.py": null,
        "tests/test_utils/__init__.py": "",
        "tests/test_utils/test_echo.py": `import click\n\n\n${py("echo", 1)}`,
        "tests/test_utils/test_rest.py": `from click import open_file\n\n\n${py("prompt", 2)}\n\n${py("open_file", 3)}`,
      },
    },
    {
      what: "moves tests into the folder of a version, with other imports",
      task: "Prepare for v4",
      before: {
        "src/__tests__/shop.test.ts": `import { buy } from "../shop";\n${suite(js("buys", "buy(1)"), js("pays", "pay(1)"))}`,
      },
      after: {
        "src/__tests__/shop.test.ts": null,
        "src/v3/tests/shop.test.ts": `import { buy } from "../../v3/shop";\nimport { expect } from "vitest";\n${suite(js("buys", "buy(1)"), js("pays", "pay(1)"))}`,
      },
    },
    {
      what: "renames a test function along with its file",
      task: "Call the parser Parser everywhere",
      before: { "parse_test.go": `package shop\n\n${table("TestParse", "Parse")}` },
      after: {
        "parse_test.go": null,
        "parser_test.go": `package shop\n\n${table("TestParser", "NewParser().Parse")}`,
      },
      flagged: [/^parse_test\.go "TestParse" lives on in parser_test\.go:3 "TestParser", by its words$/],
    },
    {
      what: "moves tests out of the source into a file beside it",
      task: "Shorten lib.rs",
      before: {
        "src/lib.rs":
          "pub fn two() -> u8 {\n    2\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn is_two() {\n        assert_eq!(two(), 2);\n    }\n}\n",
      },
      after: {
        "src/lib.rs": "pub fn two() -> u8 {\n    2\n}\n\n#[cfg(test)]\nmod tests;\n",
        "src/tests.rs": "use super::*;\n\n#[test]\nfn is_two() {\n    assert_eq!(two(), 2);\n}\n",
      },
    },
    {
      what: "adds a test that an old Node cannot run",
      task: "Answer QUERY requests",
      before: { "test/fresh.js": suite(js("answers", "get()")) },
      after: {
        "test/fresh.js": suite(
          js("answers", "get()"),
          `  it("answers QUERY", function (done) {\n    if (shouldSkipQuery(process.versions.node)) {\n      this.skip()\n    }\n    expect(query()).to.equal(1)\n  });\n`,
        ),
      },
      flagged: [
        /^skips tests under a condition: test\/fresh\.js:10 this\.skip of "answers QUERY", under .*process\.versions/,
      ],
    },
    {
      what: "keeps a test of pagers from Windows",
      task: "Close the pager's file",
      before: { "tests/test_pager.py": py("pages", 1) },
      after: {
        "tests/test_pager.py": `import pytest\nfrom click import WIN\n\n\n@pytest.mark.skipif(WIN, reason="A shell script.")\n${py("pages", 1)}`,
      },
      flagged: [/skipif of "test_pages", under the condition WIN$/],
    },
    {
      what: "skips on one system in Go",
      task: "Let the linker drop code",
      before: { "link_test.go": `package shop\n\n${go("TestLink", "Link()")}` },
      after: {
        "link_test.go": `package shop\n\n${go("TestLink", "Link()").replace("\tgot", '\tif runtime.GOOS == "windows" {\n\t\tt.Skip("no linker there")\n\t}\n\tgot')}`,
      },
      flagged: [/link_test\.go:5 t\.Skip of "TestLink", under the condition if runtime\.GOOS == "windows"/],
    },
    {
      what: "runs a test where the runtime has what it needs",
      task: "Use the new decoder",
      before: { "src/zip.test.ts": suite(js("unzips", "unzip()")) },
      after: { "src/zip.test.ts": suite(js("unzips", "unzip()")).replace('it("', 'it.skipIf(!hasZstd)("') },
      flagged: [/it\.skipIf of "unzips", under the condition !hasZstd$/],
    },
    {
      what: "ignores a Rust test on Windows",
      task: "Support symbolic links",
      before: { "tests/links.rs": '#[test]\nfn follows() {\n    assert!(follow("a"));\n}\n' },
      after: {
        "tests/links.rs":
          '#[test]\n#[cfg_attr(windows, ignore)]\nfn follows() {\n    assert!(follow("a"));\n}\n',
      },
      flagged: [/links\.rs:2 #\[cfg_attr of "follows", under the condition windows$/],
    },
    {
      what: "only indents a test that was off before",
      task: "Group the tests",
      before: { "a.test.ts": 'it.skip("old", () => {\n  expect(f()).toBe(1);\n});\n' },
      after: {
        "a.test.ts":
          'describe("all", () => {\n  it.skip("old", () => {\n    expect(f()).toBe(1);\n  });\n});\n',
      },
    },
    {
      what: "removes an option with its tests",
      task: "Remove the `retryLimit` option\n\nIt was never documented.",
      before: {
        "test/options.ts": suite(
          js("has defaults", "get()"),
          js("stops in time", "get({ retryLimit: 2 })"),
          js("takes retryLimit", "get({ retryLimit: 1 })"),
        ),
      },
      after: { "test/options.ts": suite(js("has defaults", "get()")) },
      flagged: [
        /^removed the test test\/options\.ts "stops in time", as its task orders/,
        /"takes retryLimit", as its task/,
      ],
    },
    {
      what: "drops a class with its test file",
      task: "Drop LegacyDate, which nothing uses.",
      before: {
        "src/test/java/LegacyDateTest.java":
          "class LegacyDateTest {\n  @Test\n  void parses() {\n    assertEquals(1, LegacyDate.parse());\n  }\n\n  @Test\n  void prints() {\n    assertEquals(2, LegacyDate.print());\n  }\n}\n",
        "src/main/java/LegacyDate.java": "class LegacyDate {}\n",
      },
      after: { "src/test/java/LegacyDateTest.java": null, "src/main/java/LegacyDate.java": null },
      flagged: [/LegacyDateTest\.java \(all of its 2 cases: "parses", "prints"\), as its task orders/],
    },
    {
      what: "makes one table of two tests",
      task: "Check what the old names lead to",
      before: {
        "tests/test_old.py": `@pytest.mark.parametrize("name", ["binary_stream", "text_stream"])\ndef test_streams(name):\n    with pytest.warns(DeprecationWarning, match=name):\n        getattr(click, name)\n\n\n@pytest.mark.parametrize("name", ["LazyFile", "safecall"])\ndef test_utilities(name):\n    with pytest.warns(DeprecationWarning, match=name):\n        getattr(click.utils, name)\n`,
      },
      after: {
        "tests/test_old.py": `@pytest.mark.parametrize(\n    ("module", "name", "target"),\n    [\n        # What is in both.\n        (click, "binary_stream", one),\n        (click, "text_stream", two),\n        (click.utils, "LazyFile", three),\n        (click.utils, "safecall", four),\n    ],\n)\ndef test_old_names(module, name, target):\n    with pytest.warns(DeprecationWarning, match=name):\n        assert getattr(module, name) == target\n`,
      },
      flagged: [
        /"test_streams" lives on in tests\/test_old\.py:11 "test_old_names"/,
        /"test_utilities" lives on/,
      ],
    },
    {
      what: "renames a spec and what it describes",
      task: "Shelf becomes Rack",
      before: {
        "spec/shelf_spec.rb":
          'RSpec.describe Shelf do\n  it "lends" do\n    expect(Shelf.new.lend).to eq(1)\n  end\n\n  it "takes back" do\n    expect(Shelf.new.back).to eq(2)\n  end\nend\n',
      },
      after: {
        "spec/shelf_spec.rb": null,
        "spec/rack_spec.rb":
          'RSpec.describe Rack do\n  it "lends" do\n    expect(Rack.new.lend).to eq(1)\n  end\n\n  it "takes back" do\n    expect(Rack.new.back).to eq(2)\n  end\nend\n',
      },
    },
    {
      what: "reverts a change with its tests",
      task: 'Revert "Make the detection more general"\n\nThis reverts commit d1e9d85.',
      before: {
        "shop_test.go": `package shop\n\n${go("TestOld", "Old()")}\n${go("TestNoArgs", "NoArgs()")}`,
      },
      after: { "shop_test.go": `package shop\n\n${go("TestOld", "Old()")}` },
      flagged: [/"TestNoArgs", as its task orders/],
    },
    {
      what: "writes any, as the repository does",
      task: "Infer what a record holds",
      before: Object.fromEntries(
        [1, 2, 3, 4].map((n) => [`src/m${n}.ts`, `export type T${n} = Record<string, any>;\n`]),
      ),
      after: { "src/record.ts": "export type Holds<T extends Record<string, any>> = T;\n" },
      flagged: [/^left src\/record\.ts:1 , any>, as is usual here$/],
    },
    {
      what: "expects an error of the types in a test of types, as other tests do",
      task: "Type the options",
      before: { "test/a.types.ts": "// @ts-expect-error\na(1);\n" },
      after: { "test/b.types.ts": "// @ts-expect-error\nb(1);\n" },
      flagged: [/^left test\/b\.types\.ts:1 @ts-expect-error, as/],
    },
    {
      what: "puts two notes into one",
      task: "Fail on stacked comments",
      before: { "src/json.ts": "// TODO: uniqueItems\n// TODO: contains\nf();\n" },
      after: { "src/json.ts": "// TODO: uniqueItems and contains\nf();\n" },
      flagged: [/^left src\/json\.ts:1 TODO/],
    },
    {
      what: "mends the words of a test's name",
      task: "Fix typos",
      before: {
        "test/store.js": suite(js("should presist store", "save()"), js("should presist twice", "save(2)")),
      },
      after: {
        "test/store.js": suite(js("should persist store", "save()"), js("should persist twice", "save(2)")),
      },
      flagged: [
        /"should presist store" lives on in test\/store\.js:2 "should persist store"/,
        /"should presist twice" lives on/,
      ],
    },
    {
      what: "deletes a test without a word",
      task: "Tweaks",
      before: {
        "test/hooks.ts": suite(js("calls hooks", "get()"), js("passes errors on", "get({ hooks: [fail] })")),
      },
      after: {
        "test/hooks.ts": suite(js("calls hooks", "get()")),
        "src/hooks.ts": "export const hooks = [];\n",
      },
      refused: [/^deleted the test test\/hooks\.ts "passes errors on"$/],
    },
    {
      what: "adds a test that is off",
      task: "Improve tests",
      before: { "test/gzip.ts": suite(js("unzips", "get()")) },
      after: {
        "test/gzip.ts": suite(js("unzips", "get()"), js("spreads", "get(1)").replace("it(", "it.skip(")),
      },
      refused: [/^switched off the test test\/gzip\.ts:8 it\.skip of "spreads"$/],
    },
    {
      what: "leaves the first mark of a repository",
      task: "Type the options",
      before: { "src/a.ts": "export const a = 1;\n" },
      after: { "src/a.ts": "export const a = 1 as any;\n" },
      refused: [/^left src\/a\.ts:1 as any$/],
    },
    {
      what: "removes a copy of a test that another file has",
      task: "Move the prompt tests",
      before: {
        "tests/test_utils.py": `${py("echo", 1)}\n\n${py("prompt", 2)}`,
        "tests/test_prompt.py": py("prompt", 2),
      },
      after: { "tests/test_utils.py": py("echo", 1) },
    },
    {
      what: "makes loops of tables, for another runner",
      task: "Use the runner of Node",
      before: {
        "test/sum.test.js": `test.each([\n  ["one", "two"],\n  ["five", "eleven"],\n])("adds %s to %s", (a, b) => {\n  expect(sum(a, b)).toBe(1);\n});\n\ntest.each(casesOf("[file]"))("when %s has no file then it is asked for", (name, shop) => {\n  const asked = shop.open(name);\n  expect(asked.answer).toBe(undefined);\n});\n`,
      },
      after: {
        "test/sum.test.js": `describe("sums", () => {\n  const table = [\n    ["one", "two"],\n    ["five", "eleven"],\n  ];\n  for (const [a, b] of table) {\n    test(\`adds ${"$"}{a} to ${"$"}{JSON.stringify({ b })}\`, () => {\n      assert.equal(sum(a, b), 1);\n    });\n  }\n});\n\ndescribe("when there is no file then it is asked for", () => {\n  casesOf("[file]").forEach(([name, shop]) => {\n    test(\`by ${"$"}{name}\`, () => {\n      const asked = shop.open(name);\n      assert.equal(asked.answer, undefined);\n    });\n  });\n});\n`,
      },
      flagged: [/"when %s has no file then it is asked for" lives on in test\/sum\.test\.js:15 "by /],
    },
    {
      what: "renames what tests are helped by",
      task: "Use another runner",
      before: { "test/codes.js": "export default {\n  red: [31, 39],\n  blue: [34, 39],\n};\n" },
      after: {
        "test/codes.js": null,
        "test/utils.js": "export const CODES = {\n  red: [31, 39],\n  blue: [34, 39],\n};\n",
      },
    },
    {
      what: "merges a file that checks for others into another",
      task: "Have one file of helpers",
      before: {
        "test/toolkit.js":
          "exports.isLike = (actual, expected) => {\n  assert.ok(expected);\n  return actual === expected;\n};\n",
        "test/shop.test.js": `const { isLike } = require("./toolkit");\n${suite(js("buys", "buy(1)"))}`,
      },
      after: {
        "test/toolkit.js": null,
        "test/helper.js":
          "exports.isLike = (actual, expected) => {\n  assert.ok(expected);\n  return actual === expected;\n};\n",
        "test/shop.test.js": `const { isLike } = require("./helper");\n${suite(js("buys", "buy(1)"))}`,
      },
    },
    {
      what: "names tests of types as another runner does",
      task: "Rename the type tests",
      before: { "test/types/shop.test-d.ts": "expectType<number>(buy(1));\n" },
      after: { "test/types/shop.test-d.ts": null, "test/types/shop.tst.ts": "expectType<number>(buy(1));\n" },
    },
    {
      what: "corrects the name of a benchmark, which checks nothing",
      task: "Spell it right",
      before: {
        "bench_test.go":
          'package shop\n\nfunc BenchmarkFist(b *testing.B) {\n\trouter := New()\n\trouter.Any("/ping", handle)\n}\n',
      },
      after: {
        "bench_test.go":
          'package shop\n\nfunc BenchmarkFirst(b *testing.B) {\n\trouter := New()\n\trouter.Any("/ping", handle)\n}\n',
      },
      flagged: [/"BenchmarkFist" lives on in bench_test\.go:3 "BenchmarkFirst", by its words$/],
    },
    {
      what: "gives tests new names with other forms of the same words, in another order",
      task: "Never reflect an origin",
      before: {
        "cors.test.ts": suite(
          js("reflects different origins correctly", "ask(example, other)"),
          js("reads null of files", "ask(none, file)"),
        ),
      },
      after: {
        "cors.test.ts": suite(
          js("opens null for files", "ask(none, file)"),
          js("every reflected origin differs", "ask(example, other)"),
          js("is quick", "time()"),
        ),
      },
      flagged: [
        /"reflects different.* lives on in .*"every reflected origin differs"/,
        /"reads null.* lives on/,
      ],
    },
    {
      what: "takes an example in a comment out of its function",
      task: "Shorten the examples",
      before: {
        "src/lib.rs":
          "//! fn main() {\n//!     complete();\n//!\n//!     // ... rest of application logic\n//! }\npub fn complete() {}\n",
      },
      after: {
        "src/lib.rs": "//! complete();\n//!\n//! // ... rest of application logic\npub fn complete() {}\n",
      },
    },
    {
      what: "expects another error of the types, in a test of declarations",
      task: "Type the groups",
      before: { "typings/index.test-d.ts": "// @ts-expect-error No such option.\na(1);\n" },
      after: {
        "typings/index.test-d.ts":
          "// @ts-expect-error No such option.\na(1);\n// @ts-expect-error No such group.\nb(1);\n",
      },
      flagged: [/^left typings\/index\.test-d\.ts:3 @ts-expect-error, as/],
    },
    {
      what: "deletes a test that never ran",
      task: "Minor tweaks",
      before: {
        "test/https.ts": suite(js("connects", "get()"), js("takes PFX", "get(1)").replace("it(", "it.skip(")),
      },
      after: { "test/https.ts": suite(js("connects", "get()")) },
      flagged: [/^deleted test\/https\.ts "takes PFX", which never ran$/],
    },
  ]);
});
