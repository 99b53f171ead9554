/** Finds the specialist with the most distinct keywords in a task's text; a single keyword may be chance. */
import { type Mention, mentionOf, read, type TaskReading } from "./keywords.ts";

export type Entry = { readonly subagent: string; readonly keywords: readonly string[] };

export type Counted = { readonly subagent: string; readonly keywords: readonly Keyword[] };

type Keyword = { readonly keyword: string; readonly mention: Mention };

export const counted = ({ subagent, keywords }: Entry): Counted => ({
  subagent,
  keywords: [...new Set(keywords)].map((keyword) => ({ keyword, mention: mentionOf(formsOf(keyword)) })),
});

/** Two keywords show a kind of work; with one, "test" in "test the latest release" would decide. */
const MIN_KEYWORDS = 2;

/** The entry with the most keywords, at least two; of equal ones the first. */
export function mostMentioned(roster: readonly Counted[], reading: TaskReading): Counted | undefined {
  let best: { readonly entry: Counted; readonly count: number } | undefined;
  for (const entry of roster) {
    const count = entry.keywords.filter(({ mention }) => mention(reading) !== -1).length;
    if (count >= MIN_KEYWORDS && count > (best?.count ?? 0)) best = { entry, count };
  }
  return best?.entry;
}

/** The keywords that a text mentions. */
export function mentioned(keywords: readonly string[], text: string): readonly string[] {
  const reading = read(text);
  const all = counted({ subagent: "", keywords }).keywords;
  return all.filter(({ mention }) => mention(reading) !== -1).map(({ keyword }) => keyword);
}

/** "dependencies" also matches "dependency", "best practices" also "best practice"; `mentionOf` adds the plurals. */
function formsOf(keyword: string): readonly string[] {
  const singular = keyword.replace(/([^aeious])ies$/i, "$1y").replace(/([^sui])s$/i, "$1");
  return singular === keyword ? [keyword] : [keyword, singular];
}
