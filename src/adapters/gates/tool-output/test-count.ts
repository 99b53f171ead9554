/** Counts the tests that ran and passed, from the summaries of the test runners. */

export type TestCount = {
  /** A file that could not be loaded counts as one test, if the runner counts it. */
  readonly tests: number;
  readonly passed: number;
  /** File extensions of tests in the runner's language. */
  readonly endings: RegExp;
  /** Set if the runner counts packages that passed, whatever the number of their tests. */
  readonly isOfPackages?: true;
};

/** Undefined if no runner is recognised. Several runs in one output are added up. */
export function testCount(lines: readonly string[]): TestCount | undefined {
  let [tests, passed] = [0, 0];
  let endings: RegExp | undefined;
  for (const line of lines.slice(-MAX_LINES)) {
    for (const [shape, language, count] of SUMMARIES) {
      const match = shape.exec(line);
      if (match === null) continue;
      const [more, good] = count(match);
      tests += more;
      passed += good;
      endings ??= language;
      break;
    }
  }
  // At least 0, because some runners count each failed part of one test.
  return endings === undefined
    ? undefined
    : { tests, passed: Math.max(0, passed), endings, ...(endings === GO && { isOfPackages: true }) };
}

/** Summaries come last; a run of a thousand packages has a line for each. */
const MAX_LINES = 5_000;

const JAVASCRIPT = /\.(?:[cm]?[jt]sx?|vue|svelte)$/;
const PYTHON = /\.py$/;
const GO = /_test\.go$/;
const RUST = /\.rs$/;

type Count = (match: RegExpExecArray) => readonly [tests: number, passed: number];

const none: Count = () => [0, 0];
const one: Count = () => [1, 0];
const at = (match: RegExpExecArray, group: number) => Number(match[group] ?? 0);

/** "1 failed, 2 passed": the sum of all numbers, and of those that passed. */
const listed: Count = ([text]) => {
  const numbers = [...text.matchAll(/(\d{1,9}) (passed|failed|skipped|xfailed|xpassed|errors?|todo)\b/g)];
  const sum = (isWanted: (kind: string) => boolean) =>
    numbers.reduce((total, [, count, kind = ""]) => total + (isWanted(kind) ? Number(count) : 0), 0);
  return [sum(() => true), sum((kind) => kind === "passed")];
};

const SUMMARIES: readonly (readonly [shape: RegExp, language: RegExp, count: Count])[] = [
  // node --test
  [/^(?:ℹ|#) tests (\d{1,9})$/, JAVASCRIPT, (match) => [at(match, 1), 0]],
  [/^(?:ℹ|#) pass (\d{1,9})$/, JAVASCRIPT, (match) => [0, at(match, 1)]],
  // mocha
  [/^ {2}(\d{1,9}) passing \(/, JAVASCRIPT, (match) => [at(match, 1), at(match, 1)]],
  [/^ {2}(\d{1,9}) failing$/, JAVASCRIPT, (match) => [at(match, 1), 0]],
  // jest, vitest
  [/^Tests: {1,20}\d.{0,200} total$/, JAVASCRIPT, listed],
  [/^ {1,20}Tests {1,20}(?:no tests|\d.{0,200}\(\d{1,9}\))$/, JAVASCRIPT, listed],
  [/^(?:Error: )?No test(?: file)?s found\b/, JAVASCRIPT, none],
  // bun
  [/^Ran (\d{1,9}) tests? across /, JAVASCRIPT, (match) => [at(match, 1), 0]],
  // pytest
  [/^(?:=+ )?no tests ran in [\d.]{1,20}s/, PYTHON, none],
  [/^(?:=+ )?\d{1,9} \w{1,20}(?:, \d{1,9} \w{1,20}){0,9} in [\d.]{1,20}s/, PYTHON, listed],
  // unittest
  [/^Ran (\d{1,9}) tests? in /, PYTHON, (match) => [at(match, 1), at(match, 1)]],
  [/^NO TESTS RAN\b/, PYTHON, none],
  [
    /^FAILED \((?:failures=(\d{1,9}))?(?:, )?(?:errors=(\d{1,9}))?/,
    PYTHON,
    (match) => [0, -at(match, 1) - at(match, 2)],
  ],
  // go
  [/^(?:\?|ok) {1,4}\t\S{1,500}\t.*\[no test(?: file)?s(?: to run)?\]/, GO, none],
  [/^ok {1,4}\t\S{1,500}\t/, GO, () => [1, 1]],
  [/^(?:FAIL\t| {0,20}--- FAIL: )/, GO, one],
  // cargo
  [
    /^test result: \w{1,20}\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored/,
    RUST,
    (match) => [at(match, 1) + at(match, 2) + at(match, 3), at(match, 1)],
  ],
];
