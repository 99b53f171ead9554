/** By what can somebody see that a request is fulfilled? */
import type { Draft } from "./draft.ts";
import type { RepositoryFacts } from "./facts.ts";
import type { Reading } from "./reading.ts";
import { capitalised, listed, plainLine, shortened } from "./wording.ts";
import { deliveredBy, workOf } from "./work.ts";

/** No person checks more. */
const MAX_CRITERIA = 12;
const MAX_CHARS = 200;

export function criteriaOf(
  { clauses, constraints }: Reading,
  drafts: readonly Draft[],
  facts: RepositoryFacts,
): readonly string[] {
  const hasChange = drafts.some(({ delivers }) => delivers === "change");
  const ofClauses = clauses.slice(0, MAX_CRITERIA).map((clause) => {
    const says = shortened(capitalised(plainLine(clause.text.slice(0, 1_000))), MAX_CHARS);
    const work = workOf(clause);
    if (deliveredBy(work) === "change")
      return `${says}: done, and shown by ${work === "docs" ? "what it says" : "a test or a command"}.`;
    return work === "report"
      ? `${says}: a report answers it, with paths and lines.`
      : `${says}: done, with what was run and what came out.`;
  });
  const more = clauses.length - ofClauses.length;
  return [
    ...ofClauses,
    more > 0 ? `The same for ${more} more parts of the request.` : "",
    hasChange && facts.testCommand !== undefined ? `\`${facts.testCommand}\` passes.` : "",
    ...(constraints.length === 0
      ? []
      : [
          `Kept: ${listed(constraints.slice(0, MAX_CRITERIA).map((one) => shortened(plainLine(one), MAX_CHARS)))}.`,
        ]),
  ].filter((line) => line !== "");
}
