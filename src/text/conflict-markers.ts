/** Finds forgotten conflict markers in a text, and leaves out headings, quoted examples and incomplete blocks. */

/** Lines are counted from 1. */
export type ConflictBlock = { readonly first: number; readonly middle: number; readonly last: number };

/**
 * Finds blocks as git writes them: "<<<<<<< label", perhaps "||||||| base", "=======", ">>>>>>> label", in this order,
 * each seven characters at the start of a line. A block inside a multi-line string or comment is ignored, because it
 * may be an example: a real conflict that is missed fails the build, but a "repaired" example is lost.
 */
export function conflictBlocks(text: string): readonly ConflictBlock[] {
  const lines = text.split(/\r?\n/);
  const blocks = wholeBlocks(lines);
  if (blocks.length === 0) return [];
  const isQuoted = quotations(lines);
  return blocks.filter((block) => !isQuoted(block));
}

/**
 * The first line of every block: a text without such a line has no block. An extended regular expression, so that git
 * can use it too.
 */
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

/** Recognises a block inside a multi-line string or comment by the delimiters before and after it, in any language. */
function quotations(lines: readonly string[]): IsQuoted {
  const tests = [...EVEN.map((sign) => inEven(lines, sign)), ...PAIRS.map((pair) => inPair(lines, pair))];
  const here = hereDocuments(lines);
  return (block) =>
    tests.some((isIn) => isIn(block)) || here.some(({ from, to }) => from < block.first && block.last < to);
}

/** Delimiters that both open and close. A single quote is not among them because it is also an apostrophe. */
const EVEN: readonly RegExp[] = [/(?<!\\)`/g, /(?<!\\)"/g, /'''/g];

/** A block is inside such a string if an odd number of delimiters stands before it and an odd number after it. */
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

/** A block is inside such a pair if the last delimiter before it opens and the first one after it closes. */
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

/** Finds here-documents, "cat <<EOF" up to "EOF", in shells, Ruby, Perl and PHP. */
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

/** Shift and stream operators look like the start of a here-document but never end, so the open ones are limited. */
const MAX_OPEN = 1_000;
const MAX_LINE_CHARS = 2_000;
