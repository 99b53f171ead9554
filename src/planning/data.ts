/** Reads the word lists and limits of the planning rules: planning/words.json and limits.json, or a team's own. */
import type { PlanningData } from "./data-schema.ts";

export type { PlanLimits, PlanningData, Words } from "./data-schema.ts";
export type WordList = readonly string[];

/** A file's text, and its name for messages. `isShipped`: the file is Skein's own, which a test has checked. */
type DataText = { readonly file: string; readonly text: string; readonly isShipped?: true };

/** Only a team's own files are checked, because loading the schemas takes longer than making most plans. */
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
