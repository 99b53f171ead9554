/** Edits the input line: letters, Backspace, Ctrl-U, Ctrl-W, Enter and Esc, also several at once. */
import type { useInput } from "ink";

export type Key = Parameters<Parameters<typeof useInput>[0]>[1];
export type Stroke = { readonly input: string; readonly key: Key };

/**
 * One stroke for each character, because fast typing and pasting arrive as one text. A line end at its end is Enter;
 * one in the middle becomes a blank, because a pasted paragraph is one message.
 */
export function strokesIn(input: string, key: Key): readonly Stroke[] {
  if (input.length <= 1) return [{ input, key }];
  const text = input.replace(/[\r\n]+$/, "");
  const strokes = [...text.replace(/\s*[\r\n]+\s*/g, " ")].map((character) => strokeOf(character, key));
  return text === input ? strokes : [...strokes, { input: "", key: { ...key, return: true } }];
}

/** A terminal sends Ctrl and a letter as one character. */
function strokeOf(character: string, key: Key): Stroke {
  const code = character.charCodeAt(0);
  if (character === "\u007f" || character === "\b") return { input: "", key: { ...key, backspace: true } };
  if (character === "\t") return { input: "", key: { ...key, tab: true } };
  if (character === "\u001b") return { input: "", key: { ...key, escape: true } };
  if (code >= 1 && code <= 26) return { input: String.fromCharCode(code + 96), key: { ...key, ctrl: true } };
  return { input: character, key };
}

/** The text after a stroke; undefined if the person has finished. */
export function edited(text: string, { input, key }: Stroke): string | undefined {
  if (key.return || key.escape) return undefined;
  if (key.backspace || key.delete) return [...text].slice(0, -1).join("");
  if (key.ctrl && input === "u") return "";
  if (key.ctrl && input === "w") return text.replace(/\S*\s*$/, "");
  return key.ctrl || key.meta ? text : text + input;
}
