/** What does a part of a sentence say? A clause as far as it can be read alone, a constraint, or neither. */
import type { Clause } from "../reading.ts";
import { joined } from "./clean.ts";
import type { Range, Span } from "./span.ts";

/** A clause before its place among the others is known. */
export type Draft = Omit<Clause, "after" | "context">;

export type Part =
  | { readonly is: "clause"; readonly draft: Draft; readonly order: Order }
  | { readonly is: "constraint"; readonly text: string; readonly draft: Draft }
  | { readonly is: "statement"; readonly draft: Draft };

export type Order =
  | { readonly is: "none" }
  /** After what came before it, since the last such word. */
  | { readonly is: "then" }
  /** After everything. */
  | { readonly is: "finally" }
  /** After the `of` parts before it. `isNamed`: it may have been asked for already ("before deploying"). */
  | { readonly is: "previous"; readonly isNamed: boolean; readonly of: number }
  /** After what the part before it is after: "then a and b". */
  | { readonly is: "alike" }
  /** Said as a thing already named: "after fixing the bug". */
  | { readonly is: "named" }
  /** After what these words speak of: "once the parser is fixed". `isDone`: or after what came before it. */
  | { readonly is: "about"; readonly words: readonly string[]; readonly isDone: boolean };

/** As it was written, on one line, without separators at its ends. */
export function textOf({ text, tokens }: Span, { from, to }: Range): string {
  let first = from;
  let last = to;
  while (first < last && isEdge(tokens[first]!.lower)) first += 1;
  while (last > first && (isEdge(tokens[last - 1]!.lower) || ENDS.has(tokens[last - 1]!.lower))) last -= 1;
  if (first >= last) return "";
  return joined(text.slice(tokens[first]!.start, tokens[last - 1]!.end));
}

const isEdge = (lower: string) => lower.length === 1 && /[\s,;:.!?…*_&—–。！？]/u.test(lower);
const ENDS: ReadonlySet<string> = new Set(["and", "then", "but", "plus", "or"]);

/** Its files and names, each once. */
export function namesIn(
  { tokens }: Span,
  { from, to }: Range,
): { readonly files: readonly string[]; readonly names: readonly string[] } {
  const files = new Set<string>();
  const names = new Set<string>();
  for (let at = from; at < to; at += 1) {
    const { file, inner } = tokens[at]!;
    if (file !== undefined && files.size < MAX_NAMES) files.add(file);
    if (inner !== undefined && inner !== "" && names.size < MAX_NAMES) names.add(joined(inner));
  }
  return { files: [...files], names: [...names] };
}

/** Of each kind, in one clause. */
export const MAX_NAMES = 500;

/** What says nothing of its own: a sentence that is kept as it is. */
export function plain(span: Span, range: Range): Draft {
  const text = textOf(span, range);
  return { text, object: text, items: [], isUnbounded: false, ...namesIn(span, range) };
}
