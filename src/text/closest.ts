/** Finds the known names that a misspelt name probably meant: those that are few typing errors away. */

/** The nearest first, at most three. A name that starts with `written` counts as near. */
export function closest(written: string, names: readonly string[]): readonly string[] {
  const asked = written.slice(0, MAX_CHARS).toLowerCase();
  const far = Math.max(1, Math.floor(asked.length / 3));
  return names
    .map((name) => ({ name, slips: slipsBetween(asked, name.toLowerCase()) }))
    .filter(({ slips }) => slips <= far && slips < asked.length) // A one-letter name could match anything.
    .sort((a, b) => a.slips - b.slips)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name);
}

const MAX_NAMES = 3;
/** Longer than any name that people type. */
const MAX_CHARS = 60;

/** Counts the letters to add, drop, change or swap with their neighbour to get from `a` to `b`. */
function slipsBetween(a: string, b: string): number {
  if (a.length > 1 && b.startsWith(a)) return 1;
  if (Math.abs(a.length - b.length) > MAX_CHARS) return MAX_CHARS;
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = old[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swaps = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(old[j]! + 1, row[j - 1]! + 1, changed, swaps ? older[j - 2]! + 1 : Infinity);
    }
    [older, old] = [old, row];
  }
  return old[b.length]!;
}
