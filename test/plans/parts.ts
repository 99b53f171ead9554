/** What do tests of plans need? The published words and limits, repositories that are only lists, clauses made by hand. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { BUILT_IN_SPECIALISTS } from "../../src/delegation/specialist-table.ts";
import type { PlanAround } from "../../src/planning/by-rules.ts";
import { type PlanningData, readPlanningData } from "../../src/planning/data.ts";
import { NO_FACTS, type RepositoryFacts } from "../../src/planning/facts.ts";
import { factsFrom } from "../../src/planning/facts-from.ts";
import type { Clause } from "../../src/planning/reading.ts";
import type { Surroundings } from "../../src/planning/rules/clause-drafts.ts";
import type { Draft } from "../../src/planning/rules/draft.ts";
import { treeOf } from "../../src/planning/rules/paths.ts";

const textOf = (name: string) => {
  const file = path.join(import.meta.dirname, "../../planning", name);
  return { file: name, text: readFileSync(file, "utf8") };
};

export function publishedData(): PlanningData {
  const read = readPlanningData({ words: textOf("words.json"), limits: textOf("limits.json") });
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  return read;
}

export const around = (given: Partial<PlanAround> = {}): PlanAround => ({
  facts: NO_FACTS,
  data: publishedData(),
  agents: BUILT_IN_SPECIALISTS,
  maxConcurrent: 8,
  ...given,
});

/** Of files of 2,000 bytes unless told otherwise. */
export const factsOf = (files: readonly string[], bytes = 2_000): RepositoryFacts =>
  factsFrom(files.map((file) => ({ path: file, bytes })));

export const clauseOf = (given: Partial<Clause> & Pick<Clause, "text">): Clause => ({
  object: given.text.slice(given.text.indexOf(" ") + 1),
  items: [],
  context: [],
  isUnbounded: false,
  files: [],
  names: [],
  after: [],
  ...given,
});

export function surroundings(
  facts: RepositoryFacts = NO_FACTS,
  given: Partial<Surroundings> = {},
): Surroundings {
  const { words, limits } = publishedData();
  const tree = treeOf(facts);
  return {
    request: "",
    clauses: [],
    facts,
    tree,
    words,
    limits,
    agents: 8,
    minDepth: 1,
    chosen: new Map(),
    constraints: [],
    ...given,
  };
}

export const draftOf = (given: Partial<Draft> & Pick<Draft, "key">): Draft => ({
  kind: "part",
  work: "change",
  clause: 0,
  isImperative: true,
  subject: `Change ${given.key}`,
  description: `Change ${given.key}.`,
  scope: [],
  reads: [],
  delivers: "change",
  requirements: [],
  depth: 1,
  after: [],
  ...given,
});
