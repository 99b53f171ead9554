/** Is a file a test, and was a test switched off? By the conventions of many languages. */
import { codeOf, languageOf } from "./code-lines.ts";
import type { PatchFile } from "./patch.ts";

export function isTestFile(path: string): boolean {
  const folders = path.split("/");
  const name = folders.pop()!;
  if (folders.some((folder) => NO_TESTS.has(folder.toLowerCase())) || !CODE.test(name)) return false;
  if (NAMED.some((pattern) => pattern.test(name))) return true;
  const isInside = folders.some((folder) => TEST_FOLDERS.has(folder.toLowerCase()));
  return isInside && !BESIDE_TESTS.test(name);
}

const TEST_FOLDERS = new Set(["test", "tests", "__tests__", "spec", "specs", "e2e"]);

/** Read by tests, or third-party. */
const NO_TESTS = new Set([
  ...["fixtures", "__fixtures__", "fixture", "testdata", "__snapshots__", "__mocks__", "mocks", "data"],
  ...["support", "helpers", "utils", "util", "node_modules", "vendor", "third_party"],
]);

const BESIDE_TESTS =
  /^(?:__init__|conftest|setup|teardown|helpers?|utils?|common|index|mod|main)\b|[._-](?:helpers?|utils?|fixtures?|setup)\./i;

const CODE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|scala|groovy|cs|fs|vb|rb|php|swift|m|mm|c|cc|cpp|cxx|dart|exs?|erl|hs|lua|pl|t|bats|sh|clj|cljs|elm|ml|zig|jl|r|vue|svelte|feature)$/i;

const NAMED: readonly RegExp[] = [
  /[._-](?:test|tests|spec|specs|e2e|cy)\.[^.]+$/i, // a.test.ts, a_test.go, a_spec.rb, a-test.js
  /^tests?[_.-].*\.(?:py|[cm]?[jt]s|rb|php|lua|c|cc|cpp|r|jl)$/i, // test_a.py
  /^tests?\.[^.]+$/i, // tests.py, test.js
  /[A-Za-z0-9](?:Test|Tests|TestCase|Spec|Specs|IT)\.(?:java|kts?|scala|groovy|cs|fs|vb|php|swift|mm?|hs)$/,
  /^Test[A-Z].*\.(?:java|kt|cs)$/,
  /\.(?:t|bats|feature)$/,
];

/** How many test cases a text has; 0 for an unknown language. */
export function caseCount(path: string, text: string): number {
  const pattern = CASES[languageOf(path)];
  if (pattern === undefined) return 0;
  return text.split("\n").filter((line) => pattern.test(codeOf(path, line))).length;
}

const CASES: Readonly<Record<string, RegExp>> = {
  js: /\b(?:it|test|specify|Deno\.test)(?:\.\w+)*\s*\(/,
  python: /^\s*(?:async\s+)?def\s+test/,
  go: /^func\s+(?:Test|Fuzz|Benchmark|Example)/,
  rust: /^\s*#\[(?:\w+::)?(?:test|rstest|test_case)\b/,
  java: /@(?:Test|ParameterizedTest|RepeatedTest|Property)\b/,
  csharp: /\[(?:Fact|Theory|Test|TestCase|TestMethod)\b/,
  ruby: /^\s*(?:it|specify|test|scenario)\b|^\s*def\s+test_/,
  php: /function\s+test|@test\b|#\[Test\]/,
  swift: /func\s+test|@Test\b/,
  c: /^\s*(?:TEST|TEST_F|TEST_P|TEST_CASE|BOOST_AUTO_TEST_CASE)\s*\(/,
  elixir: /^\s*(?:test|property)\b/,
};

/** Tests that added lines switch off: "test/a.test.ts:3 it.skip". */
export const disabledIn = (files: readonly PatchFile[]): readonly string[] =>
  files
    .filter(({ path }) => isTestFile(path) || languageOf(path) === "rust") // Rust has tests among the code.
    .flatMap((file) => {
      const patterns = OFF[languageOf(file.path)] ?? [];
      return file.added.flatMap(({ line, text }) => {
        const code = codeOf(file.path, text);
        const found = patterns.map((pattern) => pattern.exec(code)).find((match) => match !== null);
        return found === undefined
          ? []
          : [`${file.path}:${line} ${found[0].replace(/[\s({:=]+$/, "").trim()}`];
      });
    });

const OFF: Readonly<Record<string, readonly RegExp[]>> = {
  js: [
    /\b(?:it|test|describe|suite|context|specify|t|Deno\.test|bench)(?:\.\w+)*\.(?:skip|only|todo|fixme|failing|ignore|skipIf|runIf)\b/,
    /(?:^|[^\w.$])(?:xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe)(?:\.\w+)*\s*\(/,
    /\b(?:it|test|describe|suite)\s*\(\s*""\s*,\s*\{[^}]*\b(?:skip|only|todo)\s*:(?!\s*false\b)/,
    /\bthis\.skip\s*\(/,
  ],
  python: [
    /\bpytest\.mark\.(?:skip|skipif|xfail)\b/,
    /\bpytest\.(?:skip|xfail|importorskip)\s*\(/,
    /@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b/,
    /\.skipTest\s*\(/,
  ],
  go: [/\b[tbf]\.(?:Skip|Skipf|SkipNow)\s*\(/],
  rust: [/#\[ignore\b/],
  java: [/@(?:Disabled|Ignore)\w*/, /\bassumeTrue\s*\(\s*false/],
  csharp: [/\[Ignore\b/, /\bSkip\s*=/, /\bAssert\.(?:Ignore|Inconclusive)\s*\(/],
  ruby: [/^\s*(?:xit|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext)\b/, /^\s*(?:skip|pending)\b/],
  php: [/markTest(?:Skipped|Incomplete)\s*\(/],
  swift: [/\bXCTSkip\w*/, /\.disabled\b/],
  c: [/\bDISABLED_\w+/, /\bGTEST_SKIP\b/],
  elixir: [/@(?:module|describe)?tag\s+:?skip/],
};
