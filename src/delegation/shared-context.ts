/** Makes the text with the outputs of a task's dependencies, within a limit, and says what was cut. */
import { shown } from "./foreign.ts";

export type HandedContext = {
  /** At most `maxChars` long; empty if there is nothing to hand over. */
  readonly text: string;
  /** Dependencies whose output is shortened or missing in `text`. */
  readonly cut: readonly string[];
  /** Dependencies without an output. */
  readonly missing: readonly string[];
};

/** With a lower limit, not even the notes about cuts would fit. */
export const MIN_CONTEXT_CHARS = 200;

/** Short outputs leave the rest of their share to long ones, and one long output does not displace the others. */
export function handedContext(
  dependencies: readonly string[],
  outputs: ReadonlyMap<string, unknown>,
  maxChars: number,
): HandedContext {
  const known = [...new Set(dependencies)];
  const sections = known
    .filter((id) => outputs.has(id))
    .map((id) => ({ id, full: section(id, shown(outputs.get(id))) }));
  const missing = known.filter((id) => !outputs.has(id));
  const isWhole = sum(sections.map(({ full }) => full.length)) <= maxChars;
  const room = isWhole ? maxChars : maxChars - NOTE_ROOM;
  const shares = fairShares(
    sections.map(({ full }) => full.length),
    room,
  );
  const fitted = sections.map(({ id, full }, i) => ({ id, text: shorten(full, shares[i] as number), full }));
  const cut = fitted.filter(({ text, full }) => text !== full).map(({ id }) => id);
  const leftOut = fitted.filter(({ text }) => text === "").length;
  const note = leftOut === 0 ? "" : `[left out, too long: ${leftOut} of ${fitted.length} outputs]\n`;
  return { text: fitted.map(({ text }) => text).join("") + note, cut, missing };
}

const NOTE_ROOM = 80;

const section = (id: string, output: string) => `--- output of ${id} ---\n${output}\n`;

/** The share of `room` for each: what it needs, or an equal part of what the shorter ones leave. */
function fairShares(lengths: readonly number[], room: number): readonly number[] {
  const shares = new Array<number>(lengths.length).fill(0);
  const shortestFirst = lengths.map((length, at) => ({ length, at })).sort((a, b) => a.length - b.length);
  let left = room;
  for (const [i, { length, at }] of shortestFirst.entries()) {
    const share = Math.min(length, Math.floor(left / (lengths.length - i)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

/** The start of a section and its whole length, or an empty text if not even its heading fits. */
function shorten(full: string, share: number): string {
  if (full.length <= share) return full;
  const heading = full.indexOf("\n") + 1;
  const note = `\n[cut: ${full.length - heading - 1} characters in all]\n`;
  const kept = share - note.length;
  if (kept <= heading) return "";
  return full.slice(0, kept).replace(/[\uD800-\uDBFF]$/, "") + note; // No half character
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
