/** Scores documents against a query by BM25: rare terms count more, repeated terms ever less, long documents less. */
export type TermCounts = { readonly counts: ReadonlyMap<string, number>; readonly length: number };

export function countTerms(text: string): TermCounts {
  const counts = new Map<string, number>();
  const terms = termsOf(text);
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}

/** How quickly repetition stops counting, and how much length counts against a document: the usual values. */
const K1 = 1.2;
const B = 0.75;

/** One score per document; 0 if it has none of the terms. */
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

/** The terms of a text in order, with repetitions: "readFiles" is "read" and "file"; common words are left out. */
export function termsOf(text: string): readonly string[] {
  const words =
    text
      .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const terms: string[] = [];
  for (const word of words) {
    if (word.length < 2 || word.length > MAX_CHARS || EMPTY.has(word)) continue;
    terms.push(stemOf(word));
  }
  return terms;
}

const MAX_CHARS = 40;

const EMPTY: ReadonlySet<string> = new Set(
  "an the and or of to in on at by for from with as is are be was were been it its this that these those not no nor but if then than so also only which who what when where how why into out up down over under again all any each both more most other some such own same too very can will just has have had do does did".split(
    " ",
  ),
);

/** "Matches", "matched" and "matching" are one term. Crude, fast, and the same for query and text. */
function stemOf(word: string): string {
  if (word.length < 4) return word;
  const known = stems.get(word);
  if (known !== undefined) return known;
  const stem = stripped(word);
  if (stems.size >= MAX_STEMS) stems.clear();
  stems.set(word, stem);
  return stem;
}

const stems = new Map<string, string>();
const MAX_STEMS = 50_000;

function stripped(word: string): string {
  let stem = word
    .replace(/(?:ies|y)$/, "i")
    .replace(/(?<=ss|x|ch|sh)es$/, "")
    .replace(/(?<=[^su])s$/, "");
  const verb = stem.replace(/(?:ing|ed|er)$/, "");
  if (verb.length >= 3 && /[aeiouy]/.test(verb)) stem = verb.replace(/([bdfgmnprt])\1$/, "$1");
  return stem.length > 3 ? stem.replace(/e$/, "") : stem;
}
