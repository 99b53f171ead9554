/** Removes colours and string escapes from a text, and maps positions in the result back to the text. */
import type { Span } from "./secret-shapes.ts";

type Read = { readonly text: string; readonly back: (span: Span) => Span };

const ESCAPE = String.fromCharCode(0x1b);
/** Colours, raw or escaped as in strings of JSON (also nested) and of shells; escaped line ends and quotes. */
const WRITTEN = new RegExp(
  `(?:[${ESCAPE}\u009b]|\\\\{1,16}(?:u00[19][bB]|x1[bB]|0?33|e))\\[[\\d;:?]{0,20}[A-Za-z]` +
    `|(?<break>\\\\{1,16}[nrt])|\\\\{1,16}(?=["'/])`,
  "g",
);

/** Undefined if the text contains none of these. */
export function readThrough(text: string): Read | undefined {
  const starts: number[] = [];
  /** For each piece, how many characters further on it stands in the original text. */
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
