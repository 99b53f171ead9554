/** Finds code that switches tests off in a source file, and under which condition. */
import { languageOf } from "../code-lines.ts";
import { ALIAS, type Block } from "./shapes.ts";
import { closeOf, indentOf, lineAt, linesOf, type TestSource } from "./source.ts";

export type Skip = {
  /** Counted from 1. */
  readonly line: number;
  /** The code as written, such as "it.skip". */
  readonly what: string;
  /** A condition about the platform, a version or an available tool. Without one, the test never runs. */
  readonly condition?: string;
};

/** `of`: the block that is switched off, undefined for the whole file; with an alias, only the tests that it makes. */
export type SkipOf = { readonly skip: Skip; readonly of: Block | undefined; readonly alias?: string };

export function findSkips(source: TestSource, blocks: readonly Block[]): readonly SkipOf[] {
  const [aliases, fixed] = [aliasesIn(source), fixedIn(source)];
  const innermost = blocksByLine(blocks);
  const found = (SKIPS[languageOf(source.path)] ?? []).flatMap(({ pattern, condition }) =>
    [...source.allCode.matchAll(pattern)].flatMap((match): SkipOf[] => {
      const at = match.index + match[0].search(/\S/);
      const line = lineAt(source, at);
      const of = innermost.get(line);
      if (match[0].startsWith("#[") && (of === undefined || line > of.line)) return []; // Not a test's attribute.
      const end = match.index + match[0].length;
      const texts = condition === "none" ? [] : conditionsOf(source, { at, end, line, of, own: condition });
      const real = texts.find((text) => isOfPlatform(fixed, text));
      const what = match[0]
        .trim()
        .replace(/[\s({:=]+$/, "")
        .trim();
      const said = real?.replace(/\s+/g, " ").trim().slice(0, MAX_CONDITION_CHARS);
      // A mark with a condition and a name of its own is put on single tests by that name.
      const isNamed = of === undefined && said !== undefined && /=\s*pytest\.mark\b/.test(source.code[line]!);
      if (isNamed && !source.code[line]!.startsWith("pytestmark")) return [];
      const alias = of === undefined ? aliasAt(source, aliases, match.index) : undefined;
      return [
        {
          of,
          ...(alias && { alias }),
          skip: { line: line + 1, what, ...(said !== undefined && { condition: said }) },
        },
      ];
    }),
  );
  const built = buildLine(source);
  // Tests that never run come before those that run sometimes.
  return [...(built ? [built] : []), ...found].toSorted(
    (a, b) => Number(a.skip.condition !== undefined) - Number(b.skip.condition !== undefined),
  );
}

/** Found once for a file, which may have thousands of skips. */
const aliasesIn = ({ path, allCode }: TestSource): readonly RegExpExecArray[] =>
  languageOf(path) === "js" ? [...allCode.matchAll(ALIAS)] : [];

/** The alias in whose definition this place is; not a name that all tests of the file have. */
function aliasAt(
  { allCode }: TestSource,
  aliases: readonly RegExpExecArray[],
  at: number,
): string | undefined {
  const found = aliases.find(
    (match) =>
      match.index <= at &&
      at <= match.index + match[0].length + 200 &&
      !allCode.slice(match.index, at).includes(";"),
  );
  return found === undefined || /^(?:it|test|describe|suite|specify)$/.test(found[1]!) ? undefined : found[1];
}

const MAX_CONDITION_CHARS = 120;
/** A longer condition is not recognised as one about the platform. */
const MAX_READ_CHARS = 1_000;

/** The skip of a Go file that names its platforms in a comment. */
function buildLine({ path, written }: TestSource): SkipOf | undefined {
  const text = languageOf(path) === "go" ? /^\/\/go:build (.+)$/m.exec(written) : null;
  if (text === null) return undefined;
  const [what, condition = ""] = text;
  const line = written.slice(0, text.index).split("\n").length;
  const never = /^(?:ignore|never|disabled?)\b/.test(condition);
  return { of: undefined, skip: { line, what, ...(!never && { condition }) } };
}

/** For each line, the innermost block whose head or body it is in. */
function blocksByLine(blocks: readonly Block[]): ReadonlyMap<number, Block> {
  const outermostFirst = blocks.toSorted((a, b) => a.start - b.start || b.end - a.end);
  return new Map(
    outermostFirst.flatMap((block) => linesOf(block.start, block.end).map((line) => [line, block] as const)),
  );
}

type Place = {
  readonly at: number;
  readonly end: number;
  readonly line: number;
  readonly of: Block | undefined;
  readonly own: Own;
};

/** Where the skip's own condition is: in the brackets after it, or (as for `skip: …`) after it up to the next comma. */
type Own = "brackets" | "value" | "named" | "around" | "none";

function conditionsOf(source: TestSource, { at, end, line, of, own }: Place): readonly string[] {
  const { allCode, allPlain, code, plain, starts } = source;
  const texts: string[] = [];
  if (own === "named") return [allPlain.slice(at, lineEnd(allPlain, at))];
  const open = allCode.indexOf("(", end - 1);
  if (own === "brackets" && open !== -1 && open - end < 3) texts.push(firstArgument(allPlain, allCode, open));
  if (own === "value") texts.push(/^[^,}\n]*/.exec(allPlain.slice(end))![0]);
  if (own === "none" || own === "value") return texts;
  const before = plain[line]!.slice(0, at - starts[line]!);
  if (/\b(?:if|unless|when)\b|&&|\?|\bor\b|\|\|/.test(code[line]!.slice(0, at - starts[line]!)))
    texts.push(before);
  const behind = /\b(?:if|unless)\b(.*)$/.exec(plain[line]!.slice(end - starts[line]!));
  if (behind?.[1] !== undefined && /^(?:ruby|elixir)$/.test(languageOf(source.path))) texts.push(behind[1]);
  return [...texts, ...enclosing(source, line, of)];
}

const lineEnd = (text: string, from: number): number => {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
};

function firstArgument(plain: string, code: string, open: number): string {
  const close = closeOf(code, open) ?? open + 1;
  let depth = 0;
  for (let i = open; i < close; i += 1) {
    if ("([{".includes(code[i]!)) depth += 1;
    else if (")]}".includes(code[i]!)) depth -= 1;
    else if (code[i] === "," && depth === 1) return plain.slice(open + 1, i);
  }
  return plain.slice(open + 1, close - 1);
}

/** The conditions around a line, by indentation. For an `else`, the condition of its `if`. */
function enclosing({ code, plain }: TestSource, line: number, of: Block | undefined): readonly string[] {
  const texts: string[] = [];
  let indent = indentOf(code[line]!);
  const first = of === undefined || of.line >= line ? 0 : of.line + 1;
  for (let i = line - 1; i >= first && indent > 0; i -= 1) {
    const text = code[i]!;
    if (text.trim() === "" || indentOf(text) >= indent) continue;
    indent = indentOf(text);
    if (
      /^\s*(?:\}\s*)?(?:if|elif|elsif|unless|case|when|switch|else\s+if|try|except\s+ImportError)\b|^\s*#\s*if/.test(
        text,
      )
    )
      texts.push(plain[i]!);
    else if (/^\s*(?:\}\s*)?else\b/.test(text)) indent += 1;
  }
  return texts;
}

/** Whether the condition is about the machine, and can be false. */
function isOfPlatform(fixed: ReadonlySet<string>, text: string): boolean {
  const bare = text
    .slice(0, MAX_READ_CHARS)
    .replace(/^\s*\}?\s*(?:else\s+)?(?:if|elif|elsif|unless|when)\b/, "")
    .trim();
  const inner = bare
    .replace(/^\(([\s\S]*)\)\s*[{:]?.*$/, "$1")
    .replace(/[{:?]\s*$/, "")
    .trim();
  if (CONSTANT.test(inner) || ALWAYS.test(inner) || isSame(inner)) return false;
  const names = inner.match(/[A-Za-z_]\w*/g) ?? [];
  if (names.some((name) => fixed.has(name))) return false;
  return PLATFORM.test(inner) || (CAPABLE.test(inner) && !/flak|broken|slow|todo|disabled/i.test(inner));
}

/** Names that the file sets to true: a condition of these always holds. */
const fixedIn = ({ allCode }: TestSource): ReadonlySet<string> =>
  new Set([...allCode.matchAll(FIXED)].map(([, name]) => name!));

const FIXED = /\b([A-Za-z_]\w*)\s*(?::\s*\w+\s*)?:?=\s*(?:true|True|!0|1)\s*[;,)]?\s*$/gm;

/** Matches conditions that have the same value everywhere. */
const CONSTANT =
  /^!*\(?\s*(?:true|True|TRUE|false|False|null|None|nil|undefined|\d+|["'`][^"'`]*["'`])?\s*\)?$|(?:\|\||\bor\b)\s*(?:true|True|!0|1)\b|^(?:true|True|1)\s*(?:\|\||or\b)/;
const ALWAYS =
  /^(?:process(?:\.(?:platform|version|arch|versions(?:\.\w+)?|env))?|sys\.(?:platform|version|version_info)|os\.name|runtime\.GO(?:OS|ARCH)|navigator\.userAgent|RUBY_VERSION|PHP_VERSION)$|^(?:any|not\(all)\(\)/;
const isSame = (text: string): boolean => {
  const sides = /^(.+?)\s*[=!]==?\s*(.+)$/.exec(text);
  const isLiteral = (side: string) => /^(?:\d+|["'].*["'])$/.test(side);
  return sides !== null && (sides[1] === sides[2] || (isLiteral(sides[1]!) && isLiteral(sides[2]!)));
};

const PLATFORM =
  /platform|version|\bprocess\.|\bos\b|\bsys\b|\bOS\b|GOOS|GOARCH|Short\(\)|getenv|environ|\benv\b|\bENV\b|_ENV\b|\bCI\b|\bwin(?:32|64|dows)?\b|WIN|windows|darwin|\bmac(?:os)?|osx|linux|unix|posix|bsd|android|\bios\b|\barch\b|x86|arm64|\bnode\b|\bdeno\b|\bbun\b|browser|webkit|firefox|chrom(?:e|ium)|safari|jsdom|python|pypy|cpython|\bpy\d|\bPY_?\d|ruby|\bphp\b|\bjre\b|\bjdk\b|dotnet|\bclang|\bgcc|msvc|musl|glibc|endian|locale|timezone|feature\s*=|target_|\bcfg!|semver|\bmajor|ImportError|\broot\b|getuid|\bwhich\b|LookPath|hasattr|importlib/i;
const CAPABLE =
  /(?:^|[^\w.])!?(?:\w+\.)*(?:has|have|is|can|supports?|no|without|with|needs?|requires?|missing|available|installed)(?:_\w+|[A-Z]\w*)|supported|available|installed/;

type SkipShape = { readonly pattern: RegExp; readonly condition: Own };
const shape = (pattern: RegExp, condition: Own): SkipShape => ({ pattern, condition });

const SKIPS: Readonly<Record<string, readonly SkipShape[]>> = {
  js: [
    shape(
      /\b(?:it|test|describe|suite|context|specify|t|Deno\.test|bench)(?:\.\w+)*\.(?:skipIf|runIf|todoIf)\b/g,
      "brackets",
    ),
    shape(
      /\b(?:test|t)(?:\.\w+)*\.(?:skip|fixme)\s*\((?=\s*[^"'`\s)][^,()]*(?:\([^()]*\))?[^,()]*(?:,\s*["'`][^,]*)?\))/g,
      "brackets",
    ),
    shape(
      /\b(?:it|test|describe|suite|context|specify|t|Deno\.test|bench)(?:\.\w+)*\.(?:skip|todo|fixme|failing|fails|ignore)\b(?!\s*\(\s*[^"'`\s)][^,()]*(?:\([^()]*\))?[^,()]*(?:,\s*["'`][^,]*)?\))/g,
      "around",
    ),
    shape(/\b(?:it|test|describe|suite|context|specify|Deno\.test|bench)(?:\.\w+)*\.only\b/g, "none"),
    shape(/(?:^|[^\w.$])(?:xit|xtest|xdescribe|xcontext|xspecify)(?:\.\w+)*\s*\(/gm, "around"),
    shape(/(?:^|[^\w.$])(?:fit|fdescribe|fcontext)(?:\.\w+)*\s*\(/gm, "none"),
    shape(
      /\b(?:it|test|describe|suite)\s*\(\s*(?:""|'\s*'|`\s*`|["'`][^"'`]*["'`])\s*,\s*\{[^}]*\b(?:skip|todo)\s*:(?!\s*false\b)/g,
      "value",
    ),
    shape(
      /\b(?:it|test|describe|suite)\s*\(\s*["'`][^"'`]*["'`]\s*,\s*\{[^}]*\bonly\s*:(?!\s*false\b)/g,
      "none",
    ),
    shape(/\b(?:this|ctx|context)\.skip\s*\(/g, "around"),
  ],
  python: [
    shape(/\bpytest\.mark\.(?:skipif|xfail)\b/g, "brackets"),
    shape(/\bpytest\.mark\.skip\b/g, "around"),
    shape(/\bpytest\.(?:skip|xfail)\s*\(/g, "around"),
    shape(/\bpytest\.importorskip\s*\(/g, "named"),
    shape(/@(?:unittest\.)?(?:skipIf|skipUnless)\b/g, "brackets"),
    shape(/@(?:unittest\.)?(?:skip|expectedFailure)\b/g, "around"),
    shape(/\.skipTest\s*\(/g, "around"),
  ],
  go: [shape(/\b[tbf]\.(?:Skip|Skipf|SkipNow)\s*\(/g, "around")],
  rust: [
    shape(/#\[ignore\b/g, "none"),
    shape(/#\[cfg_attr\b/g, "brackets"),
    shape(/#\[cfg(?=\s*\((?!\s*test\s*\)))/g, "brackets"),
  ],
  java: [
    shape(/@(?:Disabled|Enabled)(?:On|If|For)\w*/g, "named"),
    shape(/@(?:Disabled|Ignore)\b/g, "none"),
    shape(/\bassumeTrue\s*\(\s*false/g, "none"),
  ],
  csharp: [
    shape(/\[Ignore\b/g, "none"),
    shape(/\bSkip\s*=/g, "none"),
    shape(/\bAssert\.(?:Ignore|Inconclusive)\s*\(/g, "around"),
  ],
  ruby: [
    shape(/^[ \t]*(?:xit|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext)\b/gm, "none"),
    shape(/^[ \t]*(?:skip|pending)\b/gm, "around"),
  ],
  php: [shape(/markTest(?:Skipped|Incomplete)\s*\(/g, "around")],
  swift: [
    shape(/\bXCTSkip(?:If|Unless)\b/g, "brackets"),
    shape(/\bXCTSkip\b/g, "around"),
    shape(/\.(?:disabled|enabled)\s*\(\s*if:/g, "named"),
    shape(/\.disabled\b(?!\s*\(\s*if:)/g, "around"),
  ],
  c: [shape(/\bDISABLED_\w+/g, "around"), shape(/\bGTEST_SKIP\b/g, "around")],
  elixir: [
    shape(/@(?:module|describe)?tag\s+:skip\b/g, "around"),
    shape(/@(?:module|describe)?tag\s+skip:/g, "value"),
  ],
};
