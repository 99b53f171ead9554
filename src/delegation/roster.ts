/** Who of many speaks of most of what a task says? Counted in distinct keywords, of which one alone is chance. */
import { type Mention, mentionOf, type Reading, read } from "./keywords.ts";

export type Entry = { readonly subagent: string; readonly keywords: readonly string[] };

/** The keywords are read once: a roster is asked for every task. */
export type Counted = {
  readonly subagent: string;
  readonly mentions: readonly { readonly keyword: string; readonly mention: Mention }[];
};

export const counted = ({ subagent, keywords }: Entry): Counted => ({
  subagent,
  mentions: [...new Set(keywords)].map((keyword) => ({ keyword, mention: mentionOf(formsOf(keyword)) })),
});

/** Two of them name a kind of work; with one, "test" in "test the latest release" would decide. */
const MIN_KEYWORDS = 2;

/** The one with the most keywords, at least two; of equals, the first. */
export function mostMentioned(roster: readonly Counted[], reading: Reading): Counted | undefined {
  let best: { readonly entry: Counted; readonly count: number } | undefined;
  for (const entry of roster) {
    const count = entry.mentions.filter(({ mention }) => mention(reading) !== -1).length;
    if (count >= MIN_KEYWORDS && count > (best?.count ?? 0)) best = { entry, count };
  }
  return best?.entry;
}

/** Which of the keywords a text mentions. */
export const mentioned = (keywords: readonly string[], text: string): readonly string[] => {
  const reading = read(text);
  return counted({ subagent: "", keywords })
    .mentions.filter(({ mention }) => mention(reading) !== -1)
    .map(({ keyword }) => keyword);
};

/** "dependencies" is also "dependency", "best practices" also "best practice"; the other way round is in `mentionOf`. */
function formsOf(keyword: string): readonly string[] {
  const singular = keyword.replace(/([^aeious])ies$/i, "$1y").replace(/([^sui])s$/i, "$1");
  return singular === keyword ? [keyword] : [keyword, singular];
}
