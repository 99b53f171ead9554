/** A line for people: harmless on a terminal, with a tone for where there are colours. */
import { harmless } from "../../text/words.ts";

/** `tone` says how it should look, where there are colours. */
export type Line = {
  readonly tone: "plain" | "good" | "bad" | "quiet";
  readonly text: string;
  /** What stands below it, each on a line of its own: output of a program. */
  readonly below?: readonly string[];
};

/** Blanks at the beginning of a line stay: they say what belongs to what. */
export const withBelow = (line: Line, below: readonly string[]): Line => ({
  ...line,
  below: below.map((text) => harmless(text.replaceAll("\t", "  "))),
});

const line =
  (tone: Line["tone"]) =>
  (text: string): Line => ({ tone, text: harmless(text.replace(/\s+/g, " ")) });
export const plain = line("plain");
export const good = line("good");
export const bad = line("bad");
export const quiet = line("quiet");
