/** Patterns of test cases and their groups in each language. */
import { closeOf, type TestSource } from "./source.ts";

/** Lines count from 0; `start` is the line of the first decorator, `line` has the name. */
export type Block = {
  readonly is: "case" | "group";
  readonly name: string;
  /** The function that makes the case, if one does: "it", or an alias that the file defines. */
  readonly called: string;
  readonly start: number;
  readonly line: number;
  readonly end: number;
};

/** Patterns are matched with the code of a whole file, without strings and comments. */
export type Shape = {
  readonly cases: RegExp | ((source: TestSource) => RegExp);
  readonly groups?: RegExp | ((source: TestSource) => RegExp);
  /** Blocks in which nothing is a case, whatever its name. */
  readonly around?: RegExp;
  /** Undefined if the match is not a case. */
  readonly nameOf: (source: TestSource, match: RegExpExecArray) => string | undefined;
  /** For a case that begins with an attribute: the line by whose indentation its end is found. */
  readonly bodyLine?: (source: TestSource, line: number) => number;
};

/** Matches "it", "test.each", "itUnlessWindows"; "(isOld ? it.skip : it)". */
const CALLED = (names: string) =>
  new RegExp(
    String.raw`(?<![\w$.])(?:${names})(?:[A-Z_]\w*)?((?:\s*\.\s*\w+)*)(?:<[\w\s,.[\]|]*>)?\s*\)?\s*(?=[(${"`"}])`,
    "g",
  );

/** Aliases that a file defines for functions of its runner: `const testOnLinux = isLinux ? test : test.skip`. */
export const ALIAS =
  /\b(?:const|let|var)\s+(\w+)\s*=\s*(?:[^;{}=]|[=!]==?(?!=)|=>){0,300}?(?<![\w$.])(?:it|test|specify|describe|suite)((?:\.\w+)*)\s*(?=;|\n|:|\)?\s*$)/gm;

const JS_CASES = String.raw`[xf]?it|[xf]?test|[xf]?specify|scenario|Deno\.test|t\.test`;
const withAliases = ({ allCode }: TestSource): RegExp => {
  const names = [...allCode.matchAll(ALIAS)].map(([, name]) => name!);
  return CALLED([...new Set(names), JS_CASES].join("|"));
};

const NO_CASE =
  /\.\s*(?:before\w*|after\w*|describe|suite|use|extend|step|macro|setTimeout|info|expect|configure|mock|snapshot|timeout|teardown|setup|plan|end)\b/;
const WITH_TABLE = /\.\s*(?:each|for|skipIf|runIf|if|todoIf|concurrentIf)$/;

const called = (source: TestSource, match: RegExpExecArray): string | undefined => {
  const [text, chain = ""] = match;
  if (NO_CASE.test(chain) && !/\bdescribe|suite/.test(chain)) return undefined;
  const open = match.index + text.length;
  const isPlain = /^(?:[xf]?(?:it|test|specify|describe|suite|context|scenario|group|testWidgets))\b/.test(
    text,
  );
  const first = WITH_TABLE.test(chain.trim()) ? behindTable(source, open) : open;
  if (first === undefined || source.allCode[first] !== "(") return isPlain ? chain : undefined;
  return literalAt(source, first + 1) ?? (isPlain ? written(source, first + 1) : undefined);
};

function behindTable({ allCode }: TestSource, open: number): number | undefined {
  const isTagged = allCode[open] === "`";
  const close = isTagged ? allCode.indexOf("`", open + 1) + 1 : closeOf(allCode, open);
  if (close === undefined || close === 0) return undefined;
  return close + /^\s*/.exec(allCode.slice(close, close + 200))![0].length;
}

/** The quoted text that begins there. */
function literalAt({ allCode, allPlain }: TestSource, from: number): string | undefined {
  const start = from + /^\s*/.exec(allCode.slice(from, from + 500))![0].length;
  const quote = allCode[start];
  if (quote === undefined || !`"'\``.includes(quote)) return undefined;
  const end = allCode.indexOf(quote, start + 1);
  return end === -1 ? undefined : allPlain.slice(start + 1, end).replace(/\s+/g, " ");
}

/** The first argument as written. */
const written = ({ allPlain }: TestSource, from: number): string =>
  /^[^,)\n]{0,80}/.exec(allPlain.slice(from).trimStart())![0].trim();

const group1 = (_: TestSource, match: RegExpExecArray): string | undefined => match[1] ?? match[0].trim();

/** The name after attributes: the word before the first bracket of the next line that is no attribute. */
const attributed =
  (name: RegExp) =>
  ({ allCode, allPlain }: TestSource, match: RegExpExecArray): string | undefined => {
    const rest = allCode.slice(match.index, match.index + 3_000);
    const found = name.exec(rest);
    if (found === null) return undefined;
    const at = match.index + found.index + found[0].lastIndexOf(found[1]!);
    return allPlain.slice(at, at + found[1]!.length);
  };

/** The first line from there that is no attribute. */
const belowAttributes = ({ code }: TestSource, line: number): number => {
  let at = line;
  while (at < code.length - 1 && at - line < 20 && /^\s*(?:@|#\[|\[|[)\]])|^\s*$/.test(code[at]!)) at += 1;
  return at;
};

const quoted = ({ allCode, ...rest }: TestSource, match: RegExpExecArray): string | undefined =>
  literalAt({ allCode, ...rest }, match.index + match[0].length) ?? match[1] ?? match[0].trim();

/**
 * Attributes, their continuation lines and empty lines, each matched in only one way: otherwise many empty lines
 * would take exponential time.
 */
const METHOD = /^(?:[^\S\n]*(?:(?:@\w|[[)\]}"])[^\n]*)?\n)*[^\n(`]*?((?<!\w)\w+|`[^`\n]*`)\s*\(/;

export const SHAPES: Readonly<Record<string, Shape>> = {
  js: {
    cases: withAliases,
    groups: CALLED(String.raw`[xf]?describe|suite|[xf]?context|(?:test|it)\s*\.\s*(?:describe|suite)`),
    nameOf: called,
  },
  dart: {
    cases: CALLED("test|testWidgets"),
    groups: CALLED("group"),
    nameOf: called,
  },
  python: {
    cases: /^[ \t]*(?:async\s+)?def\s+(test\w*)/gm,
    groups: /^[ \t]*class\s+(\w+)/gm,
    // Functions, and classes that pytest does not search.
    around:
      /^[ \t]*(?:async\s+)?def\s+(\w+)|^[ \t]*class\s+(?!Test|\w*Tests?\b|\w*TestCase\b|\w+\([^)]*Test)(\w+)/gm,
    nameOf: group1,
  },
  go: {
    cases: /^func\s+(?:\([^)\n]*\)\s*)?((?:Test|Fuzz|Benchmark|Example)(?![a-z])(?!Main\b)\w*)\s*\(/gm,
    nameOf: group1,
  },
  rust: {
    cases:
      /^[ \t]*#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test)\b|^[ \t]*\w*test\w*!\s*[({]\s*\w+/gm,
    groups: /^[ \t]*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*\{/gm,
    nameOf: attributed(/(?:\bfn\s+|test\w*!\s*[({]\s*)(\w+)/),
    bodyLine: belowAttributes,
  },
  java: {
    cases:
      /^[ \t]*@(?:Test|ParameterizedTest|RepeatedTest|Property|TestFactory|TestTemplate)\b|\b(?:void|fun)\s+test\w*\s*\(|(?<![\w.])(?:test|it|should|scenario)\s*\((?=")/gm,
    groups: /^[ \t]*(?:\w+[ \t]+)*(?:class|object)\s+(\w+)/gm,
    nameOf: (source, match) =>
      match[0].trimStart().startsWith("@")
        ? attributed(METHOD)(source, match)
        : (/test\w*(?=\s*\($)/.exec(match[0])?.[0] ?? literalAt(source, match.index + match[0].length)),
    bodyLine: belowAttributes,
  },
  csharp: {
    cases:
      /^[ \t]*\[(?:[\w.]*\.)?(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|SkippableFact|ConditionalFact)\b/gm,
    groups: /^[ \t]*(?:\w+[ \t]+)*class\s+(\w+)/gm,
    nameOf: attributed(METHOD),
    bodyLine: belowAttributes,
  },
  ruby: {
    cases:
      /^[ \t]*(?:[xf]?(?:it|specify|scenario|example)|test)\b(?!\s*[=.])\s*\(?|^[ \t]*def\s+(test_\w+)/gm,
    groups: /^[ \t]*(?:RSpec\.)?(?:[xf]?(?:describe|context|feature)|class|module)\b\s*\(?/gm,
    nameOf: quoted,
  },
  php: {
    cases: /\bfunction\s+(test\w+)|^[ \t]*#\[Test\]|(?<![\w$>:])(?:it|test)\s*\((?=['"])/gm,
    groups: /^[ \t]*(?:\w+[ \t]+)*class\s+(\w+)|(?<![\w$>:])describe\s*\((?=['"])/gm,
    nameOf: (source, match) =>
      match[1] ??
      (match[0].includes("#[") ? attributed(/function\s+(\w+)/)(source, match) : quoted(source, match)),
    bodyLine: belowAttributes,
  },
  swift: {
    cases: /\bfunc\s+(test\w*)\s*\(|^[ \t]*@Test\b/gm,
    groups: /^[ \t]*(?:@\w+[ \t]+)*(?:\w+[ \t]+)*(?:class|struct|extension)\s+(\w+)/gm,
    nameOf: (source, match) => match[1] ?? attributed(/func\s+(\w+|`[^`]*`)/)(source, match),
    bodyLine: belowAttributes,
  },
  c: {
    cases:
      /^[ \t]*(?:TEST|TEST_F|TEST_P|TYPED_TEST|BOOST_AUTO_TEST_CASE|BOOST_FIXTURE_TEST_CASE|CTEST)\s*\(\s*([\w\s,]+)\)|^[ \t]*(?:TEST_CASE|SCENARIO|TEST_CASE_METHOD)\s*\(|^(?:static\s+)?(?:void|int)\s+(test_?\w+)\s*\([^;{)]*\)\s*(?=\{|\n\{)/gm,
    nameOf: (source, match) => match[1]?.replace(/\s+/g, "") ?? match[2] ?? quoted(source, match),
  },
  elixir: {
    cases: /^[ \t]*(?:test|property)\b\s*\(?/gm,
    groups: /^[ \t]*(?:describe|defmodule)\b\s*\(?/gm,
    nameOf: quoted,
  },
};
