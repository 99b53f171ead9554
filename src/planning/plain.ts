/** Finds the words of a text, and removes what a person cannot see. */

/** True if the text has a letter or a digit of any script. */
export const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** The runs of letters and digits in a text, with upper and lower case kept. */
export const wordsIn = (text: string): readonly string[] => text.split(/[^\p{L}\p{N}]+/u);

/** Removes control characters and characters that hide or reorder letters, so that what is shown is what is run. */
export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(UNSEEN, "");

const UNSEEN =
  /[\p{Cc}--[\t\n]]|[\u{E0000}-\u{E007F}\u061C\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gv;
