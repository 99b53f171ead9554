/** Finds where a task's description first mentions a keyword: whole words, in their usual inflections. */

/** A word or phrase ("review", "root cause"), a name that is matched exactly ("node.js"), or a pattern. */
export type TaskType = string | RegExp;

/** A description prepared for searching: its text, and its words without file names, paths and identifiers. */
export type TaskReading = {
  readonly text: string;
  readonly words: readonly Word[];
  /** The indexes of each word in `words`. */
  readonly places: ReadonlyMap<string, readonly number[]>;
};

/** In lower case. `isJoined`: only blanks and hyphens are between it and the word before. */
type Word = { readonly text: string; readonly at: number; readonly isJoined: boolean };

/** The position of the first mention of any of the types, or -1. */
export type Mention = (reading: TaskReading) => number;

export function mentionOf(types: readonly TaskType[]): Mention {
  const searches = types.map(mentionOfOne);
  return (reading) => {
    const found = searches.map((search) => search(reading)).filter((at) => at !== -1);
    return found.length === 0 ? -1 : Math.min(...found);
  };
}

/**
 * Ignores names, which do not say what the work is: "Delete debug.log" is not debugging, "Rename src/review/form.ts"
 * not a review.
 */
export function read(description: string): TaskReading {
  const text = description.slice(0, MAX_READ_CHARS).replace(PILE_OF_ACCENTS, "$1").normalize();
  const prose = text.replace(/\S+/g, (chunk) => (isName(chunk) ? ".".repeat(chunk.length) : chunk));
  let end = 0;
  const words = Array.from(prose.matchAll(WORD), ({ 0: word, index }): Word => {
    const isJoined = /^[\s-]*$/.test(prose.slice(end, index));
    end = index + word.length;
    return { text: word.toLowerCase(), at: index, isJoined };
  });
  const places = new Map<string, number[]>();
  for (const [place, { text: word }] of words.entries()) {
    const known = places.get(word);
    if (known) known.push(place);
    else places.set(word, [place]);
  }
  return { text, words, places };
}

/** Letters of any script, and "_", so that `run_test` is one word. A hyphen ends a word. */
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;

/** The start of a description says what is to be done. */
const MAX_READ_CHARS = 20_000;
/** Normalising a pile of accents takes quadratic time: 20,000 took 0.5 s. Unicode's stream-safe text has up to 30. */
const PILE_OF_ACCENTS = /(\p{M}{30})\p{M}+/gu;

/**
 * The forms of `base` in a task: "debug", "debugs", "debugged", "debugging". Not "-er": a builder, a tester or a
 * reviewer is more often a thing in the product than work to do. Takes and returns lower case.
 */
function inflections(base: string): readonly string[] {
  if (!/^[a-z]+$/.test(base)) return [base];
  if (base.length < 3) return [base, `${base}s`];
  const stem = base.slice(0, -1);
  if (/[^aeiou]y$/.test(base)) return [base, `${stem}ies`, `${stem}ied`, `${base}ing`];
  if (base.endsWith("ie")) return [base, `${base}s`, `${base}d`, `${base.slice(0, -2)}ying`];
  if (base.endsWith("e")) return [base, `${base}s`, `${base}d`, `${stem}ing`, `${base}ing`];
  const plural = /(?:[sxzo]|ch|sh)$/.test(base) ? [`${base}es`] : [`${base}s`];
  if (base.endsWith("o")) plural.push(`${base}s`);
  return [base, ...plural, ...endings(base).flatMap((end) => [`${end}ed`, `${end}ing`])];
}

/** "plan" doubles its last letter, "debug" does so in practice, "test" and "fix" do not. */
function endings(base: string): readonly string[] {
  if (!/[^aeiou][aeiou][^aeiouwxy]$/.test(base)) return [base];
  const doubled = base + base.at(-1);
  const hasOneSyllable = base.match(/[aeiouy]+/g)?.length === 1;
  return hasOneSyllable ? [doubled] : [base, doubled];
}

function mentionOfOne(type: TaskType): Mention {
  if (type instanceof RegExp) {
    // A copy that starts from 0 each time, because a pattern with the flag g or y remembers where it stopped.
    const pattern = new RegExp(type.source, type.flags);
    return ({ text }) => {
      pattern.lastIndex = 0;
      return pattern.exec(text)?.index ?? -1;
    };
  }
  const keyword = type.normalize().trim().toLowerCase();
  if (keyword === "") throw new Error("a task type must be a word, a phrase or a RegExp; it is empty");
  if (!/^[\p{L}\p{M}\p{N}\s-]+$/u.test(keyword)) {
    const exact = new RegExp(
      `(?<![\\p{L}\\p{M}\\p{N}_])${RegExp.escape(keyword)}(?![\\p{L}\\p{M}\\p{N}_])`,
      "iu",
    );
    return ({ text }) => exact.exec(text)?.index ?? -1;
  }
  const phrase = keyword
    .split(/[\s-]+/)
    .filter((word) => word !== "")
    .map(inflections);
  return (reading) => firstMention(phrase, reading);
}

function firstMention([first = [], ...rest]: readonly (readonly string[])[], reading: TaskReading): number {
  const starts = first.flatMap((form) => reading.places.get(form) ?? []).sort((a, b) => a - b);
  const found = starts.find((place) => continues(rest, reading.words, place));
  return found === undefined ? -1 : reading.words[found]!.at;
}

/** True if the rest of the phrase follows: "update dependencies" also matches "update all the dependencies". */
function continues(rest: readonly (readonly string[])[], words: readonly Word[], place: number): boolean {
  const [forms, ...further] = rest;
  if (forms === undefined) return true;
  for (let next = place + 1; next <= place + 1 + MAX_BETWEEN; next += 1) {
    const word = words[next];
    if (!word?.isJoined) return false;
    if (forms.includes(word.text) && continues(further, words, next)) return true;
    if (!BETWEEN.has(word.text)) return false;
  }
  return false;
}

const BETWEEN: ReadonlySet<string> = new Set(["a", "an", "the", "all", "any", "every", "new", "our", "its"]);
const MAX_BETWEEN = 3;

/** True if a run of non-blanks is a path, an address, a file name or an identifier instead of words. */
function isName(chunk: string): boolean {
  const bare = withoutMarks(chunk);
  if (/^(?:\.{0,2}|~)\/|^@|:\/\/|\\/.test(bare)) return true;
  if (bare.includes("/")) return /\/.*\/|\/$|\.\w+$/.test(bare); // "test/review" is two words
  return bare.includes(".") && /[\p{L}\p{N}_$)]\.[\p{L}\p{N}_$]/u.test(bare);
}

/** Without a pattern: one that ends in `+$` starts again at each mark, which took 13 s for 80,000 marks. */
function withoutMarks(chunk: string): string {
  let start = 0;
  let end = chunk.length;
  while (start < end && OPENING.has(chunk[start]!)) start += 1;
  while (start < end && CLOSING.has(chunk[end - 1]!)) end -= 1;
  return chunk.slice(start, end);
}

const OPENING: ReadonlySet<string> = new Set("(\"'`[{<");
const CLOSING: ReadonlySet<string> = new Set(")\"'`]}>,;:!?.…");
