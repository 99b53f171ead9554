/** Helpers for SVG pictures: texts that are well-formed XML whatever they contain, and short numbers. */
import { harmless } from "../../../text/words.ts";

type At = { readonly x: number; readonly y: number; readonly className?: string; readonly anchor?: string };

export const text = ({ x, y, className, anchor }: At, words: string): string =>
  `<text x="${x}" y="${y}"${className ? ` class="${className}"` : ""}` +
  `${anchor ? ` text-anchor="${anchor}"` : ""}>${escaped(words)}</text>`;

export const round = (n: number): number => Math.round(n * 10) / 10;

/** Cuts by characters, so that none is split. */
export function cut(words: string, max: number): string {
  const all = [...words.slice(0, max * 2 + 2)];
  return all.length <= max && words.length <= max * 2 + 2
    ? words
    : `${all.slice(0, Math.max(1, max - 1)).join("")}…`;
}

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Characters that XML cannot contain become blanks. */
export const escaped = (words: string): string => harmless(words).replace(/[&<>"']/g, (one) => NAMED[one]!);
