/** Finds the test cases of a source file: their names, what they check, and whether they are switched off. */
import { languageOf } from "../code-lines.ts";
import { maskedBoth } from "./mask.ts";
import { type Block, SHAPES, type Shape } from "./shapes.ts";
import { findSkips, type Skip, type SkipOf } from "./skips.ts";
import { indentOf, lineAt, linesOf, type TestSource, testSourceOf } from "./source.ts";

export type TestCase = {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  /** The names of the groups around it, outermost first. */
  readonly groups: string;
  /** Its lines without comments, indentation and code that never runs. */
  readonly body: string;
  readonly words: ReadonlySet<string>;
  /** How many of its lines check something. */
  readonly checks: number;
  /** Names of the functions that it calls, one of which may check something. */
  readonly calls: ReadonlySet<string>;
  readonly skip?: Skip;
};

/** The file's cases; empty for a language that is not supported. */
export function casesIn(path: string, text: string): readonly TestCase[] {
  const shape = SHAPES[languageOf(path)];
  if (shape === undefined) return [];
  const source = testSourceOf(path, maskedBoth(path, text), text);
  const blocks = blocksIn(source, shape);
  const skips = findSkips(source, blocks);
  const { case: cases = [], group: groups = [] } = Object.groupBy(blocks, ({ is }) => is);
  return cases.map((block) => {
    const isOf = ({ of, alias }: SkipOf) =>
      alias === undefined ? of === undefined || covers(of, block) : alias === block.called;
    const skip = skips.find(isOf)?.skip;
    const around = groups.filter((group) => covers(group, block)).map(({ name }) => name);
    return { ...caseOf(source, block), groups: around.join(" "), ...(skip && { skip }) };
  });
}

/** Treats a file in which no case is recognised as one case, because a runner runs it as a whole. */
export function fileAsCase(path: string, text: string): TestCase {
  const source = testSourceOf(path, maskedBoth(path, text), text);
  const whole: Block = { is: "case", name: "", called: "", start: 0, line: 0, end: source.code.length - 1 };
  const skip = findSkips(source, [])[0]?.skip;
  return { ...caseOf(source, whole), ...(skip && { skip }) };
}

const covers = (outer: Block, inner: Block): boolean => outer.start <= inner.start && inner.end <= outer.end;

function blocksIn(source: TestSource, shape: Shape): readonly Block[] {
  const find = (is: Block["is"], pattern: Shape["cases"] | undefined) =>
    pattern === undefined
      ? []
      : [...source.allCode.matchAll(typeof pattern === "function" ? pattern(source) : pattern)].flatMap(
          (match): Block[] => {
            const name = shape.nameOf(source, match);
            if (name === undefined) return [];
            const called = /^[\w$]+/.exec(match[0].trim())?.[0] ?? "";
            const first = lineAt(source, match.index + match[0].search(/\S/));
            const line = shape.bodyLine?.(source, first) ?? first;
            return [
              {
                is,
                name,
                called,
                start: Math.min(first, headOf(source, line)),
                line,
                end: endOf(source, line),
              },
            ];
          },
        );
  const cases = [
    ...new Map(find("case", shape.cases).map((one) => [`${one.line} ${one.name}`, one])).values(),
  ];
  const around = shape.around === undefined ? [] : find("group", shape.around);
  const inside = new Set(around.flatMap(({ line, end }) => linesOf(line + 1, end)));
  return [...find("group", shape.groups), ...cases.filter(({ line }) => !inside.has(line))];
}

/** The first line of a case's head: decorators, attributes and their continuation lines. */
function headOf({ code }: TestSource, line: number): number {
  const indent = indentOf(code[line]!);
  let start = line;
  for (let i = line - 1; i >= 0 && line - i <= MAX_HEAD_LINES; i -= 1) {
    const text = code[i]!;
    if (text.trim() === "") continue;
    const isHead = indentOf(text) === indent && /^\s*(?:@|#\[|\[)/.test(text);
    if (isHead) start = i;
    else if (indentOf(text) < indent || (indentOf(text) === indent && !/^\s*[)\]}]/.test(text))) break;
  }
  return start;
}

const MAX_HEAD_LINES = 120;

/** The last line of a block: indented more than the first, or closing it. */
function endOf({ code }: TestSource, line: number): number {
  const indent = indentOf(code[line]!);
  let end = line;
  for (let i = line + 1; i < code.length; i += 1) {
    const text = code[i]!;
    if (text.trim() === "") continue;
    const deep = indentOf(text);
    const closes = deep === indent && /^\s*(?:[)\]}{]|end\b|rescue\b|ensure\b)/.test(text);
    if (deep < indent || (deep === indent && !closes)) break;
    end = i;
  }
  return end;
}

function caseOf(source: TestSource, { name, start, line, end }: Block): TestCase {
  const live = source.code.slice(start, end + 1);
  const plain = source.plain.slice(start, end + 1);
  const dead = deadAfterReturn(live, line - start);
  const lines = plain.filter((_, i) => !dead.has(i)).map((text) => text.trim());
  const checked = live.filter((_, i) => !dead.has(i));
  const calls = checked.flatMap((text) =>
    [...text.matchAll(/\b(\w+)\s*[!]?\(/g)].map(([, called]) => called!),
  );
  return {
    path: source.path,
    line: line + 1,
    name,
    groups: "",
    body: lines.filter((text) => text !== "").join("\n"),
    words: wordsIn(lines.join("\n")),
    checks: checked.filter((text) => CHECK.test(text.replace(TRIVIAL, ""))).length,
    calls: new Set(calls),
  };
}

/** The lines after an unconditional return in the middle of a body, which never run. */
function deadAfterReturn(lines: readonly string[], first: number): ReadonlySet<number> {
  const last = /^\s*(?:[)\]}]|end\b|$)/.test(lines.at(-1)!) ? lines.length - 1 : lines.length;
  const inner = lines.slice(first + 1, last).filter((text) => text.trim() !== "");
  const least = Math.min(...inner.map(indentOf));
  const at = lines.findIndex((text, i) => i > first && indentOf(text) === least && RETURN.test(text));
  if (at === -1) return new Set();
  const rest = lines.map((_, i) => i).filter((i) => i > at && i < last);
  const next = rest.find((i) => indentOf(lines[i]!) <= least && /^\s*[\w@$]/.test(lines[i]!));
  return new Set(next === undefined ? [] : rest.filter((i) => i >= next));
}

const RETURN = /^\s*(?:if\s*\(?\s*(?:true|True|1)\s*\)?\s*[{:]?\s*)?return\b/;

const wordsIn = (text: string): ReadonlySet<string> =>
  new Set((text.match(/[A-Za-z_]\w{2,}|\d{2,}/g) ?? []).filter((word) => !COMMON.has(word)));

/** Words of tests in general: that two tests share these means nothing. */
const COMMON = new Set(
  (
    "const let var function async await return new this true false null undefined import from export describe test it " +
    "expect assert assertEqual assertTrue toBe toEqual toThrow equal deepEqual strictEqual def self None True False func " +
    "testing string int err nil Errorf Fatalf Fatal Error public void class static mut use pub unwrap assert_eq Test " +
    "end done then catch throw throws case for not and the with"
  ).split(" "),
);

const CHECK =
  /\b(?:[a-z]*[Aa]ssert\w*|[Ee]xpect\w*|EXPECT_\w+|REQUIRE\w*|CHECK\w*|XCT\w+|refute\w*|should\w*|[Vv]erify\w*|[Cc]heck\w*|must\w*|throws\w*|raises\w*|rejects\w*|fail\w*|panic\w*|warns|ok)\b|\b[A-Za-z]{1,4}\.(?:is|not|true|false|truthy|falsy|deepEqual|like|notThrows\w*|regex|snapshot|Error\w*|Fatal\w*|Equal\w*|equal\w*|same|strictEqual)\b|\brequire\.[A-Z]/;

/** Checks such as "expect(true).toBe(true)", which hold whatever the code does. */
const TRIVIAL =
  /\b(?:expect|assert(?:\.\w+)*|t\.\w+)!?\s*\(\s*(?:true|True|\d+|"")?\s*(?:,\s*(?:true|True|\d+|"")\s*)?\)(?:\.\w+)*(?:\(\s*(?:true|\d+|"")?\s*\))?|\bassert\s+(?:True|1)\s*$|\bassert_eq!\(\s*\d+\s*,\s*\d+\s*\)/g;
