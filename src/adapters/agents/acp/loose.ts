/** Reads values of unknown shape without throwing. */

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A count or an amount; undefined if it is negative or too large. */
export const amount = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= MAX_AMOUNT ? value : undefined;

const MAX_AMOUNT = 1e12;

const CONTROL = /[\p{Cc}--[\t\n]]/gv;

/** For people: safe on a terminal, of bounded length. */
export function shown(value: string, maxChars: number): string {
  const clean = value
    .slice(0, maxChars + 1)
    .toWellFormed()
    .replace(CONTROL, "")
    .trim();
  return clean.length > maxChars ? `${clean.slice(0, maxChars).toWellFormed()} …` : clean;
}
