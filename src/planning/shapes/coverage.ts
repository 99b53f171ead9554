/** Is every sentence of a request in what was made of it? Whatever is not would be lost without a word. */
import { hasWord } from "../plain.ts";
import type { Shaped } from "./shape.ts";
import { joined, linesOf, sentencesOf } from "./text.ts";

/** Sentences of the request that no part and no shared sentence holds, as they were written. */
export function lostIn(
  request: string,
  { parts, shared }: Pick<Shaped, "parts" | "shared">,
): readonly string[] {
  const held = [...new Set([...parts.map(({ words }) => words), ...shared])].map(joined);
  return piecesOf(request).filter((piece) => !held.some((text) => text.includes(piece)));
}

/** Line by line, so that no piece runs over the mark of a list. */
function piecesOf(request: string): readonly string[] {
  const lines = linesOf(request).map(({ text }) => text);
  return [...new Set(lines.flatMap(sentencesOf).map(joined).filter(hasWord))];
}
