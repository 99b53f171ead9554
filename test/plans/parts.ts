/** Gives tests of plans the published words and limits, and repositories that are only lists of files. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { withBuiltIn } from "../../src/delegation/specialist-table.ts";
import type { PlanAround } from "../../src/planning/by-rules.ts";
import type { PlanningData } from "../../src/planning/data.ts";
import { readOwnData } from "../../src/planning/data-schema.ts";
import { factsFrom, NO_FACTS, type RepositoryFacts } from "../../src/planning/facts.ts";

const textOf = (name: string) => {
  const file = path.join(import.meta.dirname, "../../planning", name);
  return { file: name, text: readFileSync(file, "utf8") };
};

function published(): PlanningData {
  const read = readOwnData({ words: textOf("words.json"), limits: textOf("limits.json") });
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  return read;
}

/** Read once, because the compiled patterns of its words are kept with it. */
export const DATA: PlanningData = published();

export const around = (given: Partial<PlanAround> = {}): PlanAround => ({
  facts: NO_FACTS,
  data: DATA,
  agents: withBuiltIn([]),
  maxConcurrent: 8,
  ...given,
});

/** Each file has 2,000 bytes by default. */
export const factsOf = (files: readonly string[], bytes = 2_000): RepositoryFacts =>
  factsFrom(files.map((file) => ({ path: file, bytes })));
