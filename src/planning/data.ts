/** The word lists and limits that the rules use: planning/words.json and limits.json, or a team's own files. */
import type { PlanningData } from "./data-schema.ts";

export type { PlanLimits, PlanningData, Words } from "./data-schema.ts";
export type WordList = readonly string[];

/** A file's text, and what people call the file. `isShipped`: it is Skein's own, which a test has checked. */
type DataText = { readonly file: string; readonly text: string; readonly isShipped?: true };

/** Only what a team wrote itself is checked: loading the schemas takes longer than making most plans. */
export async function readPlanningData(texts: {
  readonly words: DataText;
  readonly limits: DataText;
}): Promise<PlanningData | { readonly problems: readonly string[] }> {
  if (!texts.words.isShipped || !texts.limits.isShipped)
    return (await import("./data-schema.ts")).readOwnData(texts);
  const { families, ...words } = JSON.parse(texts.words.text);
  const limits = Object.entries(JSON.parse(texts.limits.text) as object).map(([name, limit]) => [
    name,
    limit.value ?? limit,
  ]);
  return {
    words: { ...words, families: new Map(Object.entries(families)) },
    limits: Object.fromEntries(limits),
  };
}
