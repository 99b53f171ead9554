/** How well do documents fit a query? BM25: rare terms count more, repetition less and less, long documents less. */
import { termsOf } from "./terms.ts";

export type TermCounts = { readonly counts: ReadonlyMap<string, number>; readonly length: number };

export function countTerms(text: string): TermCounts {
  const counts = new Map<string, number>();
  const terms = termsOf(text);
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}

/** How soon repetition stops to count, and how much length counts against a document: the usual numbers. */
const K1 = 1.2;
const B = 0.75;

/** One score a document; 0 if it has none of the terms. */
export function bm25(query: readonly string[], documents: readonly TermCounts[], b = B): Float64Array {
  const scores = new Float64Array(documents.length);
  const mean = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length) || 1;
  for (const term of new Set(query)) {
    const found: number[] = [];
    for (const [i, { counts }] of documents.entries()) if (counts.has(term)) found.push(i);
    const rarity = Math.log(1 + (documents.length - found.length + 0.5) / (found.length + 0.5));
    for (const i of found) {
      const { counts, length } = documents[i]!;
      const often = counts.get(term)!;
      scores[i]! += (rarity * often * (K1 + 1)) / (often + K1 * (1 - b + (b * length) / mean));
    }
  }
  return scores;
}
