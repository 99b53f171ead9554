/** What stands before an imperative? Words of order, politeness, "and"; a denial makes a constraint of the rest. */
import { phraseAt } from "./lexicon.ts";
import type { Span } from "./span.ts";

export type Lead = {
  readonly from: number;
  /** The first token behind it. */
  readonly at: number;
  readonly order: "none" | "then" | "finally";
  /** Somebody is asked: "could you", "we need to". */
  readonly isAsked: boolean;
  /** A thing alone is a request behind it: "I want". */
  readonly isAsking: boolean;
  readonly hasComma: boolean;
  readonly hasWord: boolean;
  /** Where a denial begins: "don't", "without". */
  readonly negativeFrom?: number;
};

/** More words before an imperative are none of these; so that a text of nothing else takes its length. */
const MAX_STEPS = 12;

export function leadAt(span: Span, from: number, to: number): Lead {
  const { tokens, lexicon } = span;
  const { phrases } = lexicon;
  const lead = { from, at: from, order: "none" as Lead["order"], isAsked: false, isAsking: false };
  let hasComma = false;
  let hasWord = false;
  for (let steps = 0; steps < MAX_STEPS && lead.at < to; steps += 1) {
    const { at } = lead;
    const token = tokens[at]!;
    const finallyLength = phraseAt(phrases.last, tokens, at, to);
    const thenLength = phraseAt(phrases.next, tokens, at, to);
    const polite = phraseAt(phrases.polite, tokens, at, to);
    const negative = phraseAt(phrases.starts, tokens, at, to);
    const plain = Math.max(phraseAt(phrases.first, tokens, at, to), polite);
    const ordered = Math.max(finallyLength, thenLength);
    if (negative > Math.max(plain, ordered)) return { ...lead, hasComma, hasWord, negativeFrom: at };
    if (ordered > 0 && ordered >= plain) {
      lead.order = finallyLength >= thenLength ? "finally" : lead.order === "finally" ? "finally" : "then";
      lead.at += ordered;
    } else if (plain > 0) {
      if (polite > 0 && !CONNECTS.has(token.lower)) lead.isAsked = true;
      if (phraseAt(phrases.asking, tokens, at, to) === plain) lead.isAsking = true;
      lead.at += plain;
    } else if (CONNECTS.has(token.lower)) lead.at += 1;
    else if (isBlank(token.kind, token.lower)) {
      if (token.lower === "," || token.lower === "—" || token.lower === "–") hasComma = true;
      lead.at += 1;
    } else break;
    if (token.kind === "word") hasWord = true;
  }
  return { ...lead, hasComma, hasWord };
}

const CONNECTS: ReadonlySet<string> = new Set(["and", "but", "plus", "&", "also", "so"]);

/** Marks and emoji say nothing; a bracket, a quotation and a colon do. */
const isBlank = (kind: string, lower: string) =>
  kind === "break" || (kind === "mark" && !/^[([{:"]/.test(lower));
