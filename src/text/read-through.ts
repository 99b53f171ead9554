/** Reads through colours and the escapes of strings: what a text says without them, and where that stands in it. */
import type { Span } from "./secret-shapes.ts";

type Read = { readonly text: string; readonly back: (span: Span) => Span };

const ESCAPE = String.fromCharCode(0x1b);
/** Colours, as they are and in strings of JSON (in JSON) and of shells; line ends and quotes in such strings. */
const WRITTEN = new RegExp(
  `(?:[${ESCAPE}\u009b]|\\\\{1,16}(?:u00[19][bB]|x1[bB]|0?33|e))\\[[\\d;:?]{0,20}[A-Za-z]` +
    `|(?<break>\\\\{1,16}[nrt])|\\\\{1,16}(?=["'/])`,
  "g",
);

/** Undefined if that is the text itself. */
export function readThrough(text: string): Read | undefined {
  const starts: number[] = [];
  /** How much further on each piece stands in the text itself. */
  const ahead: number[] = [];
  let read = "";
  let at = 0;
  const addPiece = (end: number, instead: string) => {
    starts.push(read.length);
    ahead.push(at - read.length);
    read += text.slice(at, end) + instead;
  };
  for (const { 0: written, index, groups } of text.matchAll(WRITTEN)) {
    addPiece(index, groups?.["break"] === undefined ? "" : "\n");
    at = index + written.length;
  }
  if (at === 0) return undefined;
  addPiece(text.length, "");
  const inText = (place: number) => place + ahead[lastAtOrBefore(starts, place)]!;
  return { text: read, back: ({ start, end }) => ({ start: inText(start), end: inText(end - 1) + 1 }) };
}

function lastAtOrBefore(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
