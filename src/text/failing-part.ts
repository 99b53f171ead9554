/** Picks the lines of a program's output that say what failed, with the lines before and after that explain them. */
import { plainLines } from "./plain-lines.ts";

/** Lines that follow each other in the output. `from` is the number of the first one, counted from 1. */
export type OutputPart = { readonly from: number; readonly lines: readonly string[] };

type Looking = {
  /** Names of the failed tests, where known: lines with these names are taken first. */
  readonly failures?: readonly string[];
  readonly maxLines?: number;
};

/**
 * Never returns only lines that report success: if no line looks like an error, it takes the last lines that report no
 * success. Empty only if all lines of the output report success. Takes time in proportion to the text.
 */
export function failingPart(
  text: string,
  { failures = [], maxLines = MAX_LINES }: Looking = {},
): readonly OutputPart[] {
  const lines = plainLines(text).map((line) => line.slice(0, MAX_LINE_CHARS));
  const looked = failedSections(lines);
  const named = namesIn(failures);
  const marks = looked.filter((i) => isError(lines[i]!) || named.some((name) => lines[i]!.includes(name)));
  if (marks.length === 0) return lastLines(lines, looked, maxLines);
  const within = new Set(looked);
  const wanted = new Set<number>();
  for (const mark of inOrderOfWorth(marks, lines, named).slice(0, maxLines))
    for (const i of around(lines, mark)) {
      if (wanted.size >= maxLines) break;
      if (within.has(i) && (i === mark || !(isPassing(lines[i]!) || isNoise(lines[i]!)))) wanted.add(i);
    }
  return partsOf(
    lines,
    [...wanted].sort((a, b) => a - b),
  );
}

/** The same as one text; "…" on a line of its own stands for omitted lines. */
export const failingText = (text: string, looking: Looking = {}): string =>
  failingPart(text, looking)
    .map(({ lines }) => lines.join("\n"))
    .join("\n…\n");

const MAX_LINE_CHARS = 2_000;
const MAX_LINES = 60;
const LINES_BEFORE = 3;
const LINES_AFTER = 15;

/** The line that the gate writes below a command's output. */
export const commandEnd = (how: string): string => `[${how}]`;
const COMMAND_END = /^\[(?:exit code (\d+)|killed by .*|no end within .*|could not be started.*)\]$/;

/**
 * The line numbers of the commands that failed, if the output says which ones failed, else all line numbers. A command
 * without an end line counts as failed, because it may be the one that was stopped.
 */
function failedSections(lines: readonly string[]): readonly number[] {
  const all: number[] = [];
  let section: number[] = [];
  for (const [i, line] of lines.entries()) {
    section.push(i);
    const end = COMMAND_END.exec(line);
    if (!end) continue;
    if (end[1] !== "0") all.push(...section);
    section = [];
  }
  return [...all, ...section];
}

/** Takes the name without the command before it: the output contains "adds numbers", not "test: adds numbers". */
function namesIn(failures: readonly string[]): readonly string[] {
  const names = failures.map((name) => name.slice(name.indexOf(": ") === -1 ? 0 : name.indexOf(": ") + 2));
  return names.filter((name) => name.length >= MIN_NAME_CHARS).slice(0, MAX_NAMES);
}

const MIN_NAME_CHARS = 6;
const MAX_NAMES = 20;

/**
 * Takes lines from both ends in turn, because the first errors explain the others and the last ones are the tool's
 * summary. Lines that name a known failure come first.
 */
function inOrderOfWorth(
  marks: readonly number[],
  lines: readonly string[],
  named: readonly string[],
): readonly number[] {
  const isNamed = (i: number) => named.some((name) => lines[i]!.includes(name));
  const [known, others] = [marks.filter(isNamed), marks.filter((i) => !isNamed(i))];
  const firsts = others.slice(0, Math.ceil((others.length * 2) / 3));
  const lasts = others.slice(firsts.length).reverse();
  const mixed = firsts.flatMap((first, i) => [
    first,
    ...(i % 2 === 1 ? lasts.slice((i - 1) / 2, (i + 1) / 2) : []),
  ]);
  return [...known, ...mixed];
}

/** An error's own lines go on until an empty line that no indented line follows, or a line that reports success. */
function around(lines: readonly string[], mark: number): readonly number[] {
  const indices: number[] = [];
  for (let i = Math.max(0, mark - LINES_BEFORE); i <= mark; i += 1) indices.push(i);
  for (let i = mark + 1; i < lines.length && i <= mark + LINES_AFTER; i += 1) {
    const line = lines[i]!;
    if ((isPassing(line) && !isNoise(line)) || COMMAND_END.test(line)) break;
    if (line.trim() === "" && !/^\s/.test(lines[i + 1] ?? "")) break;
    indices.push(i);
  }
  return indices;
}

function lastLines(
  lines: readonly string[],
  looked: readonly number[],
  maxLines: number,
): readonly OutputPart[] {
  const told = looked.filter((i) => lines[i]!.trim() !== "" && !isPassing(lines[i]!) && !isNoise(lines[i]!));
  return partsOf(lines, told.slice(-Math.min(maxLines, MAX_LAST_LINES)));
}

const MAX_LAST_LINES = 20;

function partsOf(lines: readonly string[], indices: readonly number[]): readonly OutputPart[] {
  const parts: { from: number; lines: string[] }[] = [];
  for (const i of indices) {
    const last = parts.at(-1);
    if (last && last.from + last.lines.length === i + 1) last.lines.push(lines[i]!);
    else parts.push({ from: i + 1, lines: [lines[i]!] });
  }
  return parts;
}

/** True for lines of a test runner that report a passed or skipped test, or no failures. */
const isPassing = (line: string): boolean => PASSING.test(line) || NO_FAILURES.test(line);

const PASSING =
  /^\s*(?:[✔✓√]|ok(?:\s|:)|PASS(?:ED)?\b|--- PASS|=== (?:RUN|PAUSE|CONT)|[#ℹ] (?:pass|tests|suites|skipped|todo|cancelled|duration_ms)\b)|(?:\.\.\. ok|\bPASSED(?:\s+\[\s*\d+%\])?)\s*$|^\s*\d+\.\.\d+\s*$|^\s*\.[.\s]*(?:\[\s*\d+%\])?$/;
const NO_FAILURES =
  /(?:^|[\s(,])(?:0|no) (?:fail\w*|errors?|problems?|vulnerabilities)\b(?!.*\b[1-9]\d* (?:fail|err|prob))|\b(?:fail\w*|errors?):? 0\b/i;

/** Lines of TAP that are not results. */
const isNoise = (line: string): boolean => NOISE.test(line);
const NOISE = /^TAP version|^\s*# Subtest:|^\s*(?:duration_ms|type): |^\s*---$/;

const isError = (line: string): boolean =>
  ERROR.test(line) && !isPassing(line) && !isNoise(line) && !isWarning(line);

/** True if a linter or compiler marks the line as a warning: its text may use words of errors ("Unexpected …"). */
const isWarning = (line: string): boolean => WARNING.test(line) && !/\berrors?\b/i.test(line);
const WARNING = /^\s*(?:⚠|(?:npm )?warn(?:ing)?\b)|\d+:\d+:?\s+warning\b|\bwarning(?:\[\w+\])?:/i;

/** Words and signs that compilers, test runners, shells and interpreters use for errors. */
const ERROR = new RegExp(
  [
    String.raw`(?:^|[^\w-])(?:[A-Za-z.]{0,80}(?:error|exception)|fail(?:ed|ure|ures|s|ing)?|fatal|panic(?:ked)?|abort(?:ed)?)(?![\w-])`,
    String.raw`^\s*(?:not ok\b|[✖✗✘×❌]|FAIL\b|E\s{2,}|ERR!|npm ERR!|\*\*\*|Traceback\b|>>> )`,
    String.raw`\b(?:[A-Z]\w*(?:Error|Exception)|E[A-Z]{4,}|ELIFECYCLE|SIG(?:SEGV|KILL|ABRT|BUS|ILL))\b`,
    String.raw`\b(?:cannot|can't|could not|couldn't|unable to|unexpected|undefined reference|unresolved|not found|no such|not in GOROOT|does not exist|permission denied|refused|unrecognized|unsupported|invalid|missing|timed out|out of memory|segmentation fault|core dumped|killed)\b`,
    String.raw`\b(?:expected|actual|received)\b\s*[:=]`,
  ].join("|"),
  "i",
);
