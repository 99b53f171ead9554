/** Which terms is a text made of? Words as people and programs write them, in one form, for matching. */

/** In order, repeated as often as they occur: "readFiles" is "read" and "file"; words that say nothing are left out. */
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

/** Longer ones are keys, hashes or encoded data. */
const MAX_CHARS = 40;

const EMPTY: ReadonlySet<string> = new Set(
  "an the and or of to in on at by for from with as is are be was were been it its this that these those not no nor but if then than so also only which who what when where how why into out up down over under again all any each both more most other some such own same too very can will just has have had do does did".split(
    " ",
  ),
);

/** "Matches", "matched" and "matching" are one term. Crude, quick, and the same for query and text. */
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
