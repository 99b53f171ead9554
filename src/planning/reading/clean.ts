/** Which characters of a request are read? Well-formed, composed, without what cannot be seen. */

export function clean(request: string): { readonly text: string; readonly leftOut: number } {
  const read = request.slice(0, MAX_READ_CHARS);
  const text = read
    .toWellFormed()
    .replace(PILE_OF_ACCENTS, "$1")
    .normalize()
    .replace(/\r\n?|[\u2028\u2029\f\v]/g, "\n")
    .replace(/[’ʼ]/g, "'")
    .replace(UNSEEN, "")
    .replace(/[^\S\n]/g, " ");
  return { text, leftOut: request.length - read.length };
}

/** On one line, each run of blanks one blank. */
export const joined = (text: string): string => text.replace(/\s+/g, " ").trim();

/** What is to be done is said early. */
const MAX_READ_CHARS = 20_000;
/** To sort a pile takes the square of its height. Unicode's stream-safe text has up to 30. */
const PILE_OF_ACCENTS = /(\p{M}{30})\p{M}+/gu;
/** Control characters besides tab and newline, zero-width and direction-changing ones; not the joiner of emoji. */
const UNSEEN =
  /[\p{Cc}--[\t\n]]|[\u00ad\u034f\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gv;
