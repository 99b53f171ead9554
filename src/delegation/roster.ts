/** Who of many speaks of most of what a task says? Counted in distinct keywords, of which one alone is chance. */
import { inflections, isAscii, type Mention, mentionOf, read, type TaskReading } from "./keywords.ts";

export type Entry = { readonly subagent: string; readonly keywords: readonly string[] };

export type Counted = { readonly subagent: string; readonly keywords: readonly Keyword[] };

type Keyword = { readonly keyword: string; readonly isIn: (text: RosterText) => boolean };

/** With its small letters, made once for all keywords; and with its words, where they are plain English. */
type RosterText = {
  readonly reading: TaskReading;
  readonly lower: string;
  readonly words?: ReadonlySet<string>;
};

function rosterText(reading: TaskReading): RosterText {
  const text = { reading, lower: reading.text.toLowerCase() };
  return isAscii(reading.text) ? { ...text, words: new Set(reading.prose.toLowerCase().split(/\W+/)) } : text;
}

export const counted = ({ subagent, keywords }: Entry): Counted => ({
  subagent,
  keywords: [...new Set(keywords)].map((keyword) => ({ keyword, isIn: mentionIn(keyword) })),
});

/** Two of them name a kind of work; with one, "test" in "test the latest release" would decide. */
const MIN_KEYWORDS = 2;

/** The one with the most keywords, at least two; of equals, the first. */
export function mostMentioned(roster: readonly Counted[], reading: TaskReading): Counted | undefined {
  const text = rosterText(reading);
  let best: { readonly entry: Counted; readonly count: number } | undefined;
  for (const entry of roster) {
    const count = entry.keywords.filter(({ isIn }) => isIn(text)).length;
    if (count >= MIN_KEYWORDS && count > (best?.count ?? 0)) best = { entry, count };
  }
  return best?.entry;
}

/** Which of the keywords a text mentions. */
export function mentioned(keywords: readonly string[], text: string): readonly string[] {
  const searched = rosterText(read(text));
  return counted({ subagent: "", keywords })
    .keywords.filter(({ isIn }) => isIn(searched))
    .map(({ keyword }) => keyword);
}

/**
 * A pattern is made only where the beginnings of its words are there: to make one takes milliseconds, and with 200
 * specialists of seven keywords a choice took 2 s.
 */
function mentionIn(keyword: string): Keyword["isIn"] {
  let mention: Mention | undefined;
  let wanted: readonly string[] | undefined;
  let beginnings: readonly (readonly string[])[] | undefined;
  const forms = formsOf(keyword);
  const isWord = /^[a-z]+$/i.test(keyword);
  // What all its forms begin with: "tie" is "tying", "carry" is "carries".
  const stem = forms
    .at(-1)!
    .toLowerCase()
    .slice(0, Math.max(1, forms.at(-1)!.length - 2));
  return ({ reading, lower, words }) => {
    if (words && isWord) {
      if (!lower.includes(stem)) return false;
      wanted ??= forms.flatMap((form) => inflections(form.toLowerCase()));
      return wanted.some((word) => words.has(word));
    }
    beginnings ??= forms.map(beginningsOf);
    if (!beginnings.some((words) => words.every((word) => lower.includes(word)))) return false;
    mention ??= mentionOf(forms);
    return mention(reading) !== -1;
  };
}

/** What all inflections of a word begin with: "carry" is "carries", "tie" is "tying", "move" is "moving". */
const beginningsOf = (form: string): readonly string[] =>
  form
    .normalize()
    .toLowerCase()
    .split(/^[ -~]*$/.test(form) ? /[^a-z\d]+/ : /[^\p{L}\p{M}\p{N}]+/u) // The latter takes 1 ms to make.
    .map((word) => word.replace(/(?:ie|[ey])$/, ""));

/** "dependencies" is also "dependency", "best practices" also "best practice"; the other way round is in `mentionOf`. */
function formsOf(keyword: string): readonly string[] {
  const singular = keyword.replace(/([^aeious])ies$/i, "$1y").replace(/([^sui])s$/i, "$1");
  return singular === keyword ? [keyword] : [keyword, singular];
}
