/** Formats times, tokens and names: short, and the same everywhere on the page. */

export { duration, plural } from "../../text/words.ts";

export const count = (n: number): string =>
  n < 10_000 ? String(n) : n < 1_000_000 ? `${Math.round(n / 1_000)} k` : `${(n / 1_000_000).toFixed(1)} M`;

export const time = (ms: number): string =>
  new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const dayAndTime = (ms: number): string =>
  new Date(ms).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

/** The first line, without characters that change the direction of the text after it. */
export function line(text: string, max = 120): string {
  const first = harmless(text.split("\n", 1)[0] ?? "").trim();
  return first.length <= max ? first : `${first.slice(0, max)}…`;
}

/** Replaces control and bidi characters with a mark, because text of a model must not rearrange the page. */
export const harmless = (text: string): string =>
  text.replace(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]|\ufeff/gu, "\ufffd");

/** Colours, titles and links of terminals, which the page removes. */
const ESCAPES = new RegExp(
  ["\u001b\\[[0-?]*[ -/]*[@-~]", "\u001b\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)", "\u001b[@-Z\\\\-_]"].join(
    "|",
  ),
  "g",
);
export const withoutEscapes = (text: string): string => text.replace(ESCAPES, "");
