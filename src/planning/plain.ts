/** What is there of a text: its words, and all that a person can see. */

/** Whether it says anything: a letter or a digit of any script. */
export const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** Its runs of letters and digits. What is in small letters stays so. */
export const wordsIn = (text: string): readonly string[] => text.split(/[^\p{L}\p{N}]+/u);

/** What is shown is what is run: without what a terminal obeys, and what turns or hides letters. */
export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(UNSEEN, "");

const UNSEEN =
  /[\p{Cc}--[\t\n]]|[\u{E0000}-\u{E007F}\u061C\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gv;
