/** By what can somebody see that a request is fulfilled? */

import type { RepositoryFacts } from "../facts.ts";
import type { Reading } from "../reading.ts";
import type { Words } from "../words.ts";
import type { Draft } from "./draft.ts";
import { isScenario, saidAlone } from "./said.ts";
import { listed, plainLine, shortened, uncapitalised } from "./wording.ts";
import { type Work, workOf } from "./work.ts";

/** No person checks more. */
const MAX_CRITERIA = 12;
const MAX_CHARS = 200;

export function criteriaOf(
  { clauses, constraints }: Reading,
  drafts: readonly Draft[],
  { facts, words }: { readonly facts: RepositoryFacts; readonly words: Words },
): readonly string[] {
  const hasChange = drafts.some(({ delivers }) => delivers === "change");
  const kept = [...clauses.keys()].filter((index) => drafts.some(({ clause }) => clause === index));
  const ofClauses = kept.slice(0, MAX_CRITERIA).map((index) => {
    const clause = clauses[index]!;
    const listedBelow = clause.items.filter((item) => !clause.text.includes(item));
    const below = [...listedBelow, ...(clause.musts ?? []).map(uncapitalised)];
    const what = below.length === 0 ? "" : `: ${listed(below.map(plainLine))}`;
    return criterionOf(`${saidAlone(clauses, index, words)}${what}`, workOf(clause));
  });
  const more = kept.length - ofClauses.length;
  return [
    ...new Set(ofClauses),
    ...clauses
      .flatMap(({ context }) => context.filter(isScenario))
      .slice(0, MAX_CRITERIA)
      .map((one) => `${shortened(plainLine(one), MAX_CHARS)}.`),
    more > 0 ? `The same for ${more} more parts of the request.` : "",
    hasChange && facts.testCommand !== undefined ? `\`${facts.testCommand}\` passes.` : "",
    ...(constraints.length === 0
      ? []
      : [
          `Kept: ${listed(constraints.slice(0, MAX_CRITERIA).map((one) => shortened(plainLine(one), MAX_CHARS)))}.`,
        ]),
  ].filter((line) => line !== "");
}

/** By what one thing that is asked for is seen to be done: also of a task, so that who does it knows when it is. */
export const criterionOf = (says: string, work: Work): string =>
  `${shortened(plainLine(says.slice(0, 2 * MAX_CHARS)), MAX_CHARS)}: ${shownBy(work)}.`;

function shownBy(work: Work): string {
  switch (work) {
    case "build":
    case "change":
      return "done, and shown by a test or a command";
    case "tests":
      return "they pass, and fail without what they are for";
    case "docs":
      return "written, and true of the code as it is then";
    case "report":
      return "a report answers it, with paths and lines";
    case "verify":
    case "operate":
      return "done, with what was run and what came of it";
  }
}
