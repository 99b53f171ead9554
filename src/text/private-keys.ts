/** Finds private keys between their BEGIN and END lines, also where each line has a prefix. */
import type { Span } from "./secret-shapes.ts";

const MARK = /-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
/** Longer than any key, including the prefixes that an editor, a diff or `grep -n` writes before its lines. */
const MAX_KEY_CHARS = 40_000;
/**
 * The body of a key without an END line: its lines, with line ends that may be escaped several times, and short line
 * prefixes.
 */
const BODY =
  /(?:\s{0,4}[A-Za-z-]{1,30}: [^\n"'\\]{0,99}\n){0,5}(?:\n[^\nA-Za-z0-9]{0,20}(?:[\w./-]{1,80}[:-])?\d{0,6}[^\nA-Za-z0-9]{0,9}(?=[A-Za-z0-9\n])|[A-Za-z0-9+/=\s]|\\{1,16}[nrt]|["'],?(?=\s)|\n[-|>](?!-))*/y;

export function privateKeys(text: string): Span[] {
  const marks = [...text.matchAll(MARK)];
  return marks.flatMap(({ 0: mark, 1: is, index: start }, at) => {
    if (is !== "BEGIN") return [];
    const next = marks[at + 1];
    if (next?.[1] === "END" && next.index - start < MAX_KEY_CHARS)
      return [{ start, end: next.index + next[0].length }];
    BODY.lastIndex = start + mark.length;
    BODY.test(text);
    return [{ start, end: Math.max(BODY.lastIndex, start + mark.length) }];
  });
}
