/** Tells whether a failing command ran all its tests: how many ran, and what kept the others from running. */
import type { Finds } from "./found.ts";
import { testCount } from "./test-count.ts";

type FailedCommand = {
  readonly lines: readonly string[];
  readonly finds: Finds;
  /** Whether the command is meant to run tests. */
  readonly isForTests: boolean;
  /** Whether a program ended by an error of its own, and no other failure is known. */
  readonly hasCrashed?: boolean;
};

type RanTests = {
  readonly tests?: number;
  readonly isOfPackages?: true;
  readonly hiding?: number;
  readonly blocked?: string;
};

/**
 * A change can hide behind tests that do not run: if a command was blocked, equal failures before and after it say
 * nothing. A command that runs no tests, such as a linter, is blocked only if something of it did not load.
 */
export function whyBlocked({ lines, finds, isForTests, hasCrashed = false }: FailedCommand): RanTests {
  const counted = testCount(lines);
  const known = counted !== undefined || finds.tests > 0;
  const tests = (counted?.passed ?? 0) + finds.tests;
  const { hiding } = finds;
  const blocked = hasCrashed
    ? CRASHED
    : (stoppedEarly(lines) ?? whyNothingRan(tests, hiding, known || isForTests));
  return {
    ...(known && { tests }),
    ...(counted?.isOfPackages && { isOfPackages: true }),
    ...(hiding > 0 && { hiding }),
    ...(blocked !== undefined && { blocked }),
  };
}

const CRASHED = "a program of it crashed, and what it would have said is not known";

function whyNothingRan(tests: number, hiding: number, isForTests: boolean): string | undefined {
  if (tests > 0) return undefined;
  const consequence = isForTests ? "no test ran" : "not everything was looked at";
  if (hiding > 0) return `something does not build or load, so ${consequence}`;
  return isForTests ? "no test ran" : undefined;
}

/**
 * Why a runner stopped before all its tests had run, as it says itself. An option in a script is printed above its
 * output.
 */
function stoppedEarly(lines: readonly string[]): string | undefined {
  const found = STOPS.find(([shape]) => lines.some((line) => shape.test(line)));
  if (found) return found[1];
  const cargo =
    lines.some((line) => CARGO_STOPS.test(line)) && !lines.some((line) => CARGO_GOES_ON.test(line));
  return cargo ? "cargo stopped at the first test target that failed: run it with --no-fail-fast" : undefined;
}

const CARGO_STOPS = /^error: (?:test|doctest|bench) failed, to rerun pass /;
const CARGO_GOES_ON = /^error: \d{1,9} targets? failed:$/;

const STOPS: readonly (readonly [shape: RegExp, why: string])[] = [
  [
    /^!{3,} stopping after \d{1,9} failures? !{3,}$/,
    "pytest stopped at a failure: run it without -x or --maxfail",
  ],
  [/^!{3,} .{0,100}Interrupted: /, "pytest did not run the tests: files of them could not be collected"],
  [
    /^> (?:.{0,500}\s)?(?:vitest|jest|mocha|playwright|cypress)\s(?:.{0,500}\s)?--bail\b/,
    "the tests stop at the first failure: run them without --bail",
  ],
  [
    /^> (?:.{0,500}\s)?go test\s(?:.{0,500}\s)?-failfast\b/,
    "the tests stop at the first failure: run them without -failfast",
  ],
];
