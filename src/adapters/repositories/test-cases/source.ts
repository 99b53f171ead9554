/** Splits a source text into lines for the search for tests, with code that never runs blanked. */
import type { Masked } from "./mask.ts";

export type TestSource = {
  readonly path: string;
  /** The text without comments, as a whole and by lines. Code that never runs is blank in all forms. */
  readonly allPlain: string;
  readonly allCode: string;
  readonly plain: readonly string[];
  readonly code: readonly string[];
  /** The text as written, for comments that a compiler reads. */
  readonly written: string;
  readonly starts: readonly number[];
};

export function testSourceOf(path: string, { plain, code }: Masked, written: string): TestSource {
  const isDead = deadLines(code.split("\n"));
  const live = (text: string) =>
    text.split("\n").map((line, i) => (isDead.has(i) ? " ".repeat(line.length) : line));
  const [plainLines, codeLines] = [live(plain), live(code)];
  const starts: number[] = [];
  let at = 0;
  for (const line of codeLines) {
    starts.push(at);
    at += line.length + 1;
  }
  return {
    ...{ path, written, starts, plain: plainLines, code: codeLines },
    allPlain: plainLines.join("\n"),
    allCode: codeLines.join("\n"),
  };
}

/** The numbers from the first to the last line. */
export const linesOf = (first: number, last: number): readonly number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);

/** The line of an offset, counted from 0. */
export function lineAt({ starts }: TestSource, offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

export const indentOf = (line: string): number => /^\s*/.exec(line)![0].length;

/** The offset after the bracket that closes the one at `open`; undefined if there is none nearby. */
export function closeOf(code: string, open: number): number | undefined {
  let depth = 0;
  const end = Math.min(code.length, open + MAX_BRACKET_CHARS);
  for (let i = open; i < end; i += 1) {
    const sign = code[i]!;
    if ("([{".includes(sign)) depth += 1;
    else if (")]}".includes(sign)) {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}

const MAX_BRACKET_CHARS = 100_000;

/** The lines under a condition that is never true. */
function deadLines(code: readonly string[]): ReadonlySet<number> {
  const dead = new Set<number>();
  for (let i = 0; i < code.length; i += 1) {
    if (/^\s*#\s*if\s+0\b/.test(code[i]!)) {
      for (let j = i + 1; j < code.length && !/^\s*#\s*(?:else|elif|endif)\b/.test(code[j]!); j += 1)
        dead.add(j);
    }
    if (!NEVER.test(code[i]!)) continue;
    if (/[:{]\s*\S/.test(code[i]!)) dead.add(i);
    const indent = indentOf(code[i]!);
    for (let j = i + 1; j < code.length; j += 1) {
      if (code[j]!.trim() !== "" && indentOf(code[j]!) <= indent) break;
      dead.add(j);
    }
  }
  return dead;
}

const NEVER = /^\s*(?:if|while)\s*\(?\s*(?:false|False|0|!1|!true|not True)\s*\)?\s*(?:[:{].*)?$/;
