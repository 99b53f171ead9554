/** Does a task ask to write something? Then a read-only agent must not get it. */

const WRITING =
  /\b(?:writ(?:es?|ten|ing)|creat(?:es?|ed|ing)|sav(?:es?|ed|ing)|generat(?:es?|ed|ing)|produc(?:es?|ed|ing)|outputs?)\b/i;

export const saysToWrite = (text: string): boolean => WRITING.test(text);
