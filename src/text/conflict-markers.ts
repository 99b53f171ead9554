/** Which lines of a text are forgotten conflict markers, and not a heading, a quotation or half of one? */

/** Lines are counted from 1. */
export type ConflictBlock = { readonly first: number; readonly middle: number; readonly last: number };

/**
 * A block as git writes it: "<<<<<<< label", perhaps "||||||| base", "=======", ">>>>>>> label", in this order, seven
 * signs each, at the start of the line. One that stands in a text or a comment over several lines is somebody's
 * example, or cannot be told from one: to leave a real one for the build to find is better than to "repair" an example.
 */
export function conflictBlocks(text: string): readonly ConflictBlock[] {
  const lines = text.split(/\r?\n/);
  const blocks = wholeBlocks(lines);
  if (blocks.length === 0) return [];
  const isQuoted = quotations(lines);
  return blocks.filter((block) => !isQuoted(block));
}

/** What every block begins with: who has no such line has no block. An extended regular expression, for git as well. */
export const BLOCK_START = "^<<<<<<< [^[:space:]]";

const OURS = /^<{7} \S/;
const BASE = /^\|{7}(?: |$)/;
const MIDDLE = /^={7}$/;
const THEIRS = /^>{7} \S/;

function wholeBlocks(lines: readonly string[]): readonly ConflictBlock[] {
  const blocks: ConflictBlock[] = [];
  let first: number | undefined;
  let hasBase = false;
  let middle: number | undefined;
  for (const [i, line] of lines.entries()) {
    if (!SIGNS.has(line[0] ?? "")) continue;
    if (OURS.test(line)) {
      first = i + 1;
      hasBase = false;
      middle = undefined;
    } else if (first === undefined) continue;
    else if (BASE.test(line) && middle === undefined) {
      if (hasBase) first = undefined;
      hasBase = true;
    } else if (MIDDLE.test(line)) middle ??= i + 1;
    else if (THEIRS.test(line)) {
      if (middle !== undefined) blocks.push({ first, middle, last: i + 1 });
      first = undefined;
    }
  }
  return blocks;
}

const SIGNS = new Set("<|=>");

type IsQuoted = (block: ConflictBlock) => boolean;

/** By signs that open and close what goes over several lines, in whatever language. */
function quotations(lines: readonly string[]): IsQuoted {
  const tests = [...EVEN.map((sign) => inEven(lines, sign)), ...PAIRS.map((pair) => inPair(lines, pair))];
  const here = hereDocuments(lines);
  return (block) =>
    tests.some((isIn) => isIn(block)) || here.some(({ from, to }) => from < block.first && block.last < to);
}

/** Signs that close what they open. A single quote is not among them: it is an apostrophe as well. */
const EVEN: readonly RegExp[] = [/(?<!\\)`/g, /(?<!\\)"/g, /'''/g];

/** Within, an odd number of them stands before the block, and an odd number behind it. */
function inEven(lines: readonly string[], sign: RegExp): IsQuoted {
  let sum = 0;
  const until = [0, ...lines.map((line) => (sum += line.match(sign)?.length ?? 0))];
  return ({ first, last }) => until[first - 1]! % 2 === 1 && (sum - until[last]!) % 2 === 1;
}

const PAIRS = [
  { open: "/*", close: "*/" },
  { open: "<!--", close: "-->" },
  { open: 'r#"', close: '"#' },
] as const;

/** Within, the last sign before the block opens, and the first behind it closes. */
function inPair(lines: readonly string[], { open, close }: (typeof PAIRS)[number]): IsQuoted {
  let isOpen = false;
  const before = lines.map((line) => {
    const was = isOpen;
    const [opened, closed] = [line.lastIndexOf(open), line.lastIndexOf(close)];
    if (opened !== closed) isOpen = opened > closed;
    return was;
  });
  let closes = false;
  const behind = lines.toReversed().map((line) => {
    const was = closes;
    const [opened, closed] = [line.indexOf(open), line.indexOf(close)];
    if (opened !== closed) closes = closed !== -1 && (opened === -1 || closed < opened);
    return was;
  });
  return ({ first, last }) => before[first - 1]! && behind[lines.length - last]!;
}

/** "cat <<EOF" up to "EOF": in shells, Ruby, Perl and PHP. */
function hereDocuments(lines: readonly string[]): readonly { readonly from: number; readonly to: number }[] {
  const open = new Map<string, number>();
  const found: { readonly from: number; readonly to: number }[] = [];
  for (const [i, line] of lines.entries()) {
    const end = /^\s*(\w{1,40})[;,)]*\s*$/.exec(line)?.[1] ?? "";
    const from = open.get(end);
    if (from !== undefined) {
      found.push({ from, to: i + 1 });
      open.delete(end);
    }
    if (open.size >= MAX_OPEN || line.startsWith("<")) continue;
    for (const [, word] of line.slice(0, MAX_LINE_CHARS).matchAll(/<<[<~-]?\s*\\?["']?(\w{1,40})/g))
      if (!open.has(word!)) open.set(word!, i + 1);
  }
  return found;
}

/** Shifts and streams look alike, and are never closed. */
const MAX_OPEN = 1_000;
const MAX_LINE_CHARS = 2_000;
