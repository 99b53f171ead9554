/** What are runs called? Short, by the day, and safe in a branch and as a folder. */

export const isRunName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,39}$/.test(name);

/**
 * Month and day, then enough chance that two starts at once seldom meet; `create` refuses a name that is taken.
 *
 * ```ts
 * newRunName(new Date(2026, 10, 15), Math.random); // "1115-k7qd"
 * ```
 */
export function newRunName(now: Date, random: () => number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  const letters = Array.from({ length: 4 }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]);
  return `${two(now.getMonth() + 1)}${two(now.getDate())}-${letters.join("")}`;
}

/** Without vowels, which make words, and without what looks alike: 27 to the 4th are half a million names a day. */
const ALPHABET = "23456789bcdfghjkmnpqrstvwxz";
