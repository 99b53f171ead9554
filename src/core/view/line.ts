/** Makes lines for people: without control characters for a terminal, with a tone for colours. */
import { harmless } from "../../text/words.ts";

/** `tone`: how the line should look if there are colours. */
export type Line = {
  readonly tone: "plain" | "good" | "bad" | "quiet";
  readonly text: string;
  /** Lines below it, such as a program's output. */
  readonly below?: readonly string[];
};

/** Leading blanks are kept, because indentation has a meaning in a program's output. */
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
