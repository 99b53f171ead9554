/** Finds the rare words of a sentence by which related texts are matched: paths, quotes, numbers, names. */

/** `hard`: a path, quoted words or a number, which a paraphrase keeps. `isIn`: whether a squeezed text contains it. */
export type Rare = { readonly is: "hard" | "name"; readonly isIn: (text: string) => boolean };

/** `hasNames`: a capital letter inside the sentence marks a name, as in English. */
export function rareIn(sentence: string, hasNames: boolean): readonly Rare[] {
  const said = sentence.slice(0, MAX_SENTENCE_CHARS);
  const quotes = [...said.matchAll(QUOTED)].map((found) => found.slice(1).find((one) => one !== undefined)!);
  const rest = said.replace(QUOTED, " ");
  const paths = (rest.match(PATH) ?? []).map((path) => path.replace(/[./]$/, ""));
  const unpathed = rest.replace(PATH, " ");
  const names = [
    ...(unpathed.match(IDENTIFIER) ?? []),
    ...(hasNames ? (unpathed.match(CAPITALISED) ?? []) : []),
  ];
  return [
    ...unique([...quotes, ...paths]).map((words) => hard(words)),
    ...unique((unpathed.match(NUMBER) ?? []).map(plainNumber)).map(number),
    ...unique(names).map((name): Rare => ({ is: "name", isIn: wholeWord(name) })),
  ];
}

const MAX_SENTENCE_CHARS = 5_000;
const QUOTED = /`([^`\n]{1,200})`|"([^"\n]{1,200})"|“([^”\n]{1,200})”|(?<!\w)'([^'\n]{2,100})'(?!\w)/g;
const PATH =
  /(?<![\w./@:-])(?:\.{0,2}\/)?(?:[\w.@*-]{1,80}\/){0,20}(?:[\w@*-][\w.@*-]{0,79}\.[a-z]\w{0,9}\b|[\w.@-]{1,80}\/)/g;
const NUMBER = /(?<![\p{L}\d])\d+(?:[.,]\d+)*/gu;
/** `camelCase`, `snake_case`, `--flag`, `API`, `PascalCase`. */
const IDENTIFIER =
  /(?<![\w-])(?:--[a-z][\w-]+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}\d*)\b/g;
/** Only inside a sentence: its first word has a capital in any case. */
const CAPITALISED = /(?<=[\p{Ll}\p{N},;)]\s+)\p{Lu}\p{Ll}{2,}\b/gu;

const unique = (words: readonly string[]): readonly string[] => [...new Set(words)];

/** A file is also recognised by its name without the folders. */
function hard(words: string): Rare {
  const wanted = squeezed(words);
  const name = wanted.slice(wanted.lastIndexOf("/") + 1);
  const isName = name !== wanted && /\.\w+$/.test(name) ? wholeWord(name) : () => false;
  return { is: "hard", isIn: (text) => text.includes(wanted) || isName(text) };
}

function number(digits: string): Rare {
  return { is: "hard", isIn: (text) => (text.match(NUMBER) ?? []).map(plainNumber).includes(digits) };
}

/** "1,000" is 1000; "1.5" stays. */
const plainNumber = (written: string): string => written.replace(/,(?=\d{3}\b)/g, "");

function wholeWord(word: string): (text: string) => boolean {
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}(?:e?s)?(?![\\p{L}\\p{N}])`, "iu");
  return (text) => pattern.test(text);
}

/** On one line in lower case: the form in which texts are compared. */
export const squeezed = (text: string): string => text.replace(/\s+/g, " ").trim().toLowerCase();
