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
