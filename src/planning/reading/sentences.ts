/** Where do sentences end? At full stops that are no part of a name, and at the ends of lines that begin anew. */

import { imperativeAt } from "./imperative.ts";
import { leadAt } from "./lead.ts";
import type { Range, Span } from "./span.ts";

export function sentencesOf(span: Span): readonly Range[] {
  const { tokens } = span;
  const found: Range[] = [];
  let from = 0;
  let hasColon = false;
  for (let at = 0; at < tokens.length; at += 1) {
    if (tokens[at]!.lower === ":") hasColon = true;
    if (!endsSentence(span, { at, from, hasColon })) continue;
    if (at > from) found.push({ from, to: at });
    from = at + 1;
    hasColon = false;
  }
  if (from < tokens.length) found.push({ from, to: tokens.length });
  return found;
}

type Where = { readonly at: number; readonly from: number; readonly hasColon: boolean };

function endsSentence(span: Span, { at, from, hasColon }: Where): boolean {
  const { tokens, text } = span;
  const { lower, kind, isInside, end } = tokens[at]!;
  if (isInside) return false;
  if (kind === "break") return beginsAnew(span, at, from);
  if (kind !== "mark") return false;
  if (WIDE_STOPS.has(lower)) return true;
  // The things after a colon may be parted by semicolons.
  if (lower === ";") return !hasColon || isImperative(span, at + 1);
  if (!STOPS.has(lower)) return false;
  const next = text[end];
  return next === undefined || /[\s)\]}"'”’*_]/.test(next) || STOPS.has(next);
}

const STOPS: ReadonlySet<string> = new Set(".!?…");
const WIDE_STOPS: ReadonlySet<string> = new Set("。！？");

/** Lines are wrapped, or each says something: a capital, or what begins like a request, after a line that was whole. */
function beginsAnew(span: Span, at: number, from: number): boolean {
  const { tokens, lexicon, text } = span;
  const before = tokens[at - 1];
  if (!before || at === from) return true;
  if (before.lower === "," || before.lower === "and" || before.lower === "&") return false;
  if (lexicon.has.prepositions.has(before.lower) || lexicon.has.determiners.has(before.lower)) return false;
  const next = tokens[at + 1];
  if (!next) return true;
  if (before.lower === ":") return isImperative(span, at + 1);
  if (from === 0 && before.end <= MAX_TITLE_CHARS && isCapital(text[next.start]!) && next.kind === "word")
    return true;
  if (!isImperative(span, at + 1)) return false;
  return isCapital(text[next.start]!) || isImperative(span, from);
}

/** A first line that is no longer, before one that begins with a capital, is a title. */
const MAX_TITLE_CHARS = 60;

const isCapital = (char: string) => char !== char.toLowerCase();

function isImperative(span: Span, at: number): boolean {
  const lead = leadAt(span, at, span.tokens.length);
  if (lead.negativeFrom !== undefined || lead.isAsked || lead.order !== "none") return true;
  return imperativeAt(span, lead.at, span.tokens.length) !== undefined;
}
