/** How are the word lists looked up? As sets, and as phrases by their first word; built once for each list. */
import type { WordList, Words } from "../words.ts";

export type Lexicon = {
  readonly words: Words;
  readonly verbs: ReadonlySet<string>;
  /** Verbs that are names as often: nouns, and members of families such as "create, read, update, delete". */
  readonly weak: ReadonlySet<string>;
  readonly has: { readonly [key in SetName]: ReadonlySet<string> };
  readonly phrases: { readonly [key in PhraseName]: Phrases };
};

type SetName =
  | "determiners"
  | "pronouns"
  | "prepositions"
  | "subordinators"
  | "reasons"
  | "finite"
  | "units"
  | "otherLanguages"
  | "abbreviations"
  | "modals"
  | "noList"
  | "each"
  | "umbrella"
  | "done"
  | "quantifiers"
  | "extensions"
  | "notFiles"
  | "bareFiles"
  | "folders";

type PhraseName =
  | "phrasal"
  | "polite"
  | "asking"
  | "first"
  | "next"
  | "last"
  | "after"
  | "before"
  | "starts"
  | "within"
  | "denials"
  | "with"
  | "joined"
  | "unbounded";

/** By their first word, the longest first. */
export type Phrases = ReadonlyMap<string, readonly WordList[]>;

export function lexiconOf(words: Words): Lexicon {
  const known = KNOWN.get(words);
  if (known) return known;
  const made = make(words);
  KNOWN.set(words, made);
  return made;
}

const KNOWN = new WeakMap<Words, Lexicon>();

function make(words: Words): Lexicon {
  const { grammar, lists, names, order, negative, unbounded } = words;
  const verbs = new Set(words.actionVerbs);
  return {
    words,
    verbs,
    weak: new Set([...words.alsoNouns, ...[...words.families.values()].flat()]),
    has: {
      ...setsOf(grammar, GRAMMAR_SETS),
      ...setsOf(lists, ["noList", "each", "umbrella"]),
      ...setsOf(names, ["extensions", "notFiles", "bareFiles", "folders"]),
      modals: new Set(words.modals),
      done: new Set(order.done),
      quantifiers: new Set(unbounded.quantifiers),
    },
    phrases: {
      phrasal: phrasesOf([...words.phrasal.keys()]),
      polite: phrasesOf(words.polite),
      asking: phrasesOf(words.asking),
      first: phrasesOf(order.first),
      next: phrasesOf(order.then),
      last: phrasesOf(order.finally),
      after: phrasesOf(order.after),
      before: phrasesOf(order.before),
      starts: phrasesOf(negative.starts),
      within: phrasesOf(negative.within),
      denials: phrasesOf(negative.modals),
      with: phrasesOf(lists.with),
      joined: phrasesOf(lists.joined),
      unbounded: phrasesOf(unbounded.phrases),
    },
  };
}

const GRAMMAR_SETS = [
  "determiners",
  "pronouns",
  "prepositions",
  "subordinators",
  "reasons",
  "finite",
  "units",
  "otherLanguages",
  "abbreviations",
] as const;

function setsOf<Key extends string>(
  lists: { readonly [key in Key]: WordList },
  keys: readonly Key[],
): { readonly [key in Key]: ReadonlySet<string> } {
  const found: { [key in Key]?: ReadonlySet<string> } = {};
  for (const key of keys) found[key] = new Set(lists[key]);
  return found as { readonly [key in Key]: ReadonlySet<string> };
}

/** "fixing", "fixed" and "written" are "fix" and "write"; what ends in "s" is a noun, or somebody else's doing. */
export function verbOf(form: string, { verbs, words }: Lexicon): string | undefined {
  const irregular = words.irregular.get(form);
  if (irregular !== undefined) return irregular;
  const ending = form.endsWith("ing") ? 3 : form.endsWith("ed") ? 2 : 0;
  if (ending === 0 || form.length < ending + 2) return undefined;
  const stem = form.slice(0, -ending);
  const once = stem.at(-1) === stem.at(-2) ? stem.slice(0, -1) : stem;
  return [stem, `${stem}e`, once, `${stem.slice(0, -1)}y`].find((base) => verbs.has(base));
}

export function phrasesOf(list: WordList): Phrases {
  const found = new Map<string, WordList[]>();
  for (const phrase of list) {
    const parts = phrase.includes(" ") ? phrase.split(/\s+/) : [phrase];
    const same = found.get(parts[0]!);
    if (same) same.push(parts);
    else found.set(parts[0]!, [parts]);
  }
  for (const same of found.values()) same.sort((a, b) => b.length - a.length);
  return found;
}

/** How many words of the longest phrase stand at `at`; 0: none does. */
export function phraseAt(
  phrases: Phrases,
  tokens: readonly { readonly lower: string }[],
  at: number,
  to = tokens.length,
): number {
  const first = tokens[at];
  if (!first || at >= to) return 0;
  for (const parts of phrases.get(first.lower) ?? []) {
    if (at + parts.length <= to && parts.every((part, index) => tokens[at + index]!.lower === part))
      return parts.length;
  }
  return 0;
}
