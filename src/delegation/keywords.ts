/** Where does a task's description first speak of this? Whole words, in their ordinary inflections. */

/** A word or phrase ("review", "root cause"), something spelled exactly ("node.js"), or a pattern. */
export type TaskType = string | RegExp;

/** A description as it is searched: as written, and with file names, paths and identifiers blanked out. */
export type TaskReading = { readonly text: string; readonly prose: string };

/** The position of the first mention of any of the types, or -1. */
export type Mention = (reading: TaskReading) => number;

export function mentionOf(types: readonly TaskType[]): Mention {
  const searches = types.map(mentionOfOne);
  return (reading) => {
    let first = -1;
    for (const search of searches) {
      const at = search(reading);
      if (at !== -1 && (first === -1 || at < first)) first = at;
    }
    return first;
  };
}

/** "Delete debug.log" is no debugging, "Rename src/review/form.ts" no review: names say nothing of the work. */
export function read(description: string): TaskReading {
  const start = description.slice(0, MAX_READ_CHARS);
  const text = isAscii(start) ? start : start.replace(PILE_OF_ACCENTS, "$1").normalize();
  return { text, prose: text.replace(/\S+/g, (chunk) => (isName(chunk) ? " ".repeat(chunk.length) : chunk)) };
}

/** There is nothing in it to compose. */
export const isAscii = (text: string): boolean => /^[ -~\t\r\n]*$/.test(text);

/** What is to be done is said early. */
const MAX_READ_CHARS = 20_000;
/** To sort a pile takes the square of its height: 20,000 took 0.5 s. Unicode's stream-safe text has up to 30. */
const PILE_OF_ACCENTS = /(\p{M}{30})\p{M}+/gu;

/**
 * `base` as a task may be written: "debug", "debugs", "debugged", "debugging". Not "-er": a builder, a tester or a
 * reviewer is a thing in the product more often than what is to be done. Lower case in, lower case out.
 */
export function inflections(base: string): readonly string[] {
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
    // A copy that starts over each time: with the flags g or y a pattern remembers where it stopped.
    const pattern = new RegExp(type.source, type.flags);
    return ({ text }) => {
      pattern.lastIndex = 0;
      return pattern.exec(text)?.index ?? -1;
    };
  }
  const keyword = type.normalize().trim().toLowerCase();
  if (keyword === "") throw new Error("a task type must be a word, a phrase or a RegExp; it is empty");
  if (!PLAIN.test(keyword) && !/^[\p{L}\p{M}\p{N}\s-]+$/u.test(keyword)) {
    const exact = wholeWord(RegExp.escape(keyword));
    return ({ text }) => exact(text);
  }
  const words = keyword.split(/[\s-]+/).filter((word) => word !== "");
  const phrase = wholeWord(words.map((word) => `(?:${inflections(word).join("|")})`).join(GAP));
  return ({ prose }) => phrase(prose);
}

/** Most keywords: a pattern for all scripts takes 1 ms to make, so it is made where it is needed. */
const PLAIN = /^[a-z\d\s-]+$/;

/** Between the words of a phrase: "update dependencies" is also "update all the dependencies". */
const GAP = "[\\s-]+(?:(?:a|an|the|all|any|every|new|our|its)\\s+){0,3}";

/**
 * Where the pattern stands as whole words, or -1. Letters of any script count, and "_", so that `run_test` is one word.
 * A hyphen ends a word. What is around it is looked at by one pattern for all: in each of them it takes 1 ms to make.
 */
function wholeWord(words: string): (text: string) => number {
  // What a plain letter follows is looked for again in its other forms: "test" of "tests", "test all" of "test all alleys".
  const pattern = `(?:${words})(?!\\w)`;
  let any: RegExp | undefined;
  let plain: RegExp | undefined;
  return (text) => {
    // In small letters a simple pattern does, of which 50 are made in the time of one for all scripts.
    if (isAscii(pattern) && isAscii(text)) {
      plain ??= new RegExp(pattern, "g");
      return findWord(plain, text.toLowerCase());
    }
    any ??= new RegExp(pattern, "giu");
    return findWord(any, text);
  };
}

function findWord(words: RegExp, text: string): number {
  words.lastIndex = 0;
  for (let found = words.exec(text); found; found = words.exec(text)) {
    const end = found.index + found[0].length;
    if (!isLetter(before(text, found.index)) && !isLetter(text.codePointAt(end))) return found.index;
    words.lastIndex = found.index + (text.codePointAt(found.index)! > 0xffff ? 2 : 1);
  }
  return -1;
}

function before(text: string, at: number): number | undefined {
  const code = text.charCodeAt(at - 1);
  const isSecondHalf = code >= 0xdc00 && code <= 0xdfff;
  return at === 0 ? undefined : text.codePointAt(at - (isSecondHalf && at > 1 ? 2 : 1));
}

function isLetter(code: number | undefined): boolean {
  if (code === undefined) return false;
  const char = String.fromCodePoint(code);
  return code < 0x80 ? /\w/.test(char) : /[\p{L}\p{M}\p{N}]/u.test(char);
}

/** Whether a run of non-blanks is a path, an address, a file name or an identifier rather than words. */
function isName(chunk: string): boolean {
  const bare = withoutMarks(chunk);
  if (/^(?:\.{0,2}|~)\/|^@|:\/\/|\\/.test(bare)) return true;
  if (bare.includes("/")) return /\/.*\/|\/$|\.\w+$/.test(bare); // "test/review" is two words
  return bare.includes(".") && /[\p{L}\p{N}_$)]\.[\p{L}\p{N}_$]/u.test(bare);
}

/** By hand: a pattern that ends in `+$` starts over at each mark, which made 13 s of 80,000 of them. */
function withoutMarks(chunk: string): string {
  let start = 0;
  let end = chunk.length;
  while (start < end && OPENING.has(chunk[start]!)) start += 1;
  while (start < end && CLOSING.has(chunk[end - 1]!)) end -= 1;
  return chunk.slice(start, end);
}

const OPENING: ReadonlySet<string> = new Set("(\"'`[{<");
const CLOSING: ReadonlySet<string> = new Set(")\"'`]}>,;:!?.…");
