/**
 * Is a text nothing but ASCII? Letters of all scripts take half a millisecond each time a pattern names them, and a plan
 * has a dozen of these: only a text that needs them pays for them.
 */
export const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);

const PLAIN_WORD = /[A-Za-z\d]/;

/** Whether it says anything: a letter or a digit of any script. */
export const hasWord = (text: string): boolean =>
  PLAIN_WORD.test(text) || (!isAscii(text) && /[\p{L}\p{N}]/u.test(text));

/** Its runs of letters and digits. What is in small letters stays so. */
export const wordsIn = (text: string): readonly string[] =>
  text.split(isAscii(text) ? /[^A-Za-z\d]+/ : /[^\p{L}\p{N}]+/u);

/** What is shown is what is run: without what a terminal obeys, and what turns or hides letters. */
export const visible = (text: string): string => {
  const lines = text.toWellFormed().replace(/\r\n?|[\u2028\u2029]/g, "\n");
  return isAscii(lines) ? lines.replace(/(?![\t\n])\p{Cc}/gu, "") : lines.replace(UNSEEN, "");
};

const UNSEEN =
  /[\p{Cc}--[\t\n]]|[\u{E0000}-\u{E007F}\u061C\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gv;
