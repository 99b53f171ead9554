/** Reads how many tests a green command ran, and their names if its runner lists all of them. */
import { steady } from "./found.ts";
import { withoutTime } from "./node-test.ts";
import type { TestCount } from "./test-count.ts";

/** `tests`: set if the list is more exact than the runner's summary. */
export type TestList = {
  readonly tests?: number;
  readonly isOfPackages?: true;
  readonly names?: readonly string[];
};

/**
 * A list is used only if it has a name for each test that the runner counted. Go counts packages, and lists tests
 * with `-v`.
 */
export function testList(lines: readonly string[], { tests, isOfPackages }: TestCount): TestList {
  if (isOfPackages) {
    const names = listedIn(lines, GO);
    return names.length === 0 ? { isOfPackages } : { tests: names.length, ...modest(names) };
  }
  const found = [...nodeTests(lines), ...LISTS.map((shape) => listedIn(lines, shape))];
  return modest(found.find(({ length }) => length === tests) ?? []);
}

function modest(names: readonly string[]): Pick<TestList, "names"> {
  if (names.length === 0 || names.length > MAX_NAMES) return {};
  const chars = names.reduce((sum, { length }) => sum + length, 0);
  return chars > MAX_CHARS ? {} : { names: names.map(steady) };
}

/** The names are in the log, once for each landing, so they may take no more room than the diff of a handoff. */
const MAX_NAMES = 500;
const MAX_CHARS = 16_000;

const GO = /^ {0,80}--- (?:PASS|SKIP|FAIL): (\S{1,300}) \(/;

const LISTS: readonly RegExp[] = [
  // cargo
  /^test (\S.{0,300}?) \.\.\. (?:ok|ignored)\b/,
  // pytest -v, also on several processes
  /^(?:\[gw\d{1,4}\] \[ {0,2}\d{1,3}%\] (?:PASSED|SKIPPED|XFAIL|XPASS) )?([^\s:]{1,300}::.{1,300}?) *(?: (?:PASSED|SKIPPED|XFAIL|XPASS)\b.{0,300})?$/,
  // vitest --reporter=verbose
  /^ {1,20}[✓↓] (\S.{0,300} > .{1,300}?)(?: \d{1,9}ms)?$/,
  // mocha, jest --verbose: without their suites
  /^ {2,80}[✓✔○] (\S.{0,300}?)(?: \(\d{1,9} ?ms\))?$/,
];

const listedIn = (lines: readonly string[], shape: RegExp): readonly string[] =>
  lines.flatMap((line) => shape.exec(line)?.slice(1, 2) ?? []);

/**
 * For `node --test`: the innermost tests, and all tests that have an end. A parent may be a suite, which is not
 * counted.
 */
function nodeTests(lines: readonly string[]): readonly (readonly string[])[] {
  const [innermost, all]: [string[], string[]] = [[], []];
  const parents: string[] = [];
  let lastDepth = 0;
  for (const line of lines) {
    const match = NODE.map((shape) => shape.exec(line)).find((each) => each !== null);
    if (!match) continue;
    const [, indent = "", mark = "", title = ""] = match;
    const depth = indent.length / (/^[▶✔﹣⚠]/.test(mark) ? 2 : 4);
    const name = withoutTime(title);
    if (mark === "▶" || mark === "# Subtest:") {
      parents[depth] = name;
      continue;
    }
    const path = [...parents.slice(0, depth), name].join(" > ");
    all.push(path);
    if (lastDepth <= depth) innermost.push(path);
    lastDepth = depth;
  }
  return [innermost, all];
}

const NODE: readonly RegExp[] = [
  /^((?: {2}){0,40})([▶✔﹣⚠]) (\S.{0,1000})$/,
  /^((?: {4}){0,40})(# Subtest:|ok \d{1,9} -) (\S.{0,1000}?)(?: # (?:SKIP|TODO)\b.{0,500})?$/,
];
