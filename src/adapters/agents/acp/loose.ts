/** What is in a value that anybody may have sent? Nothing is taken for granted, and nothing throws. */

export type Fields = Readonly<Record<string, unknown>>;

export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A count or an amount: neither negative nor endless. */
export const amount = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= MAX_AMOUNT ? value : undefined;

/** More than this nobody spends in one turn. */
const MAX_AMOUNT = 1e12;

const CONTROL = /[\p{Cc}--[\t\n]]/gv;

/** For people: harmless on a terminal, of bounded length. */
export function shown(value: string, maxChars: number): string {
  const clean = value
    .slice(0, maxChars + 1)
    .toWellFormed()
    .replace(CONTROL, "")
    .trim();
  return clean.length > maxChars ? `${clean.slice(0, maxChars).toWellFormed()} …` : clean;
}
