/** A line for people: harmless on a terminal, with a tone for where there are colours. */
import { harmless } from "../../text/words.ts";

/** `tone` says how it should look, where there are colours. */
export type Line = { readonly tone: "plain" | "good" | "bad" | "quiet"; readonly text: string };

const line =
  (tone: Line["tone"]) =>
  (text: string): Line => ({ tone, text: harmless(text.replace(/\s+/g, " ")) });
export const plain = line("plain");
export const good = line("good");
export const bad = line("bad");
export const quiet = line("quiet");
