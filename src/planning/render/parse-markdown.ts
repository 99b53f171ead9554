/** Which plan does a markdown text say? What `renderMarkdown` wrote, also after a person has edited it. */
import type { PlanProblem } from "../files/place.ts";
import { type ReadPlanOptions, readPlan } from "../files/read-plan.ts";
import type { ExecutionPlan } from "../plan.ts";
import { draftOf } from "./markdown-draft.ts";
import { sectionsOf } from "./markdown-sections.ts";
import { contradictions } from "./markdown-views.ts";

type ParsedMarkdown =
  /** `notes`: as of a plan file. */
  | { readonly is: "plan"; readonly plan: ExecutionPlan; readonly notes: readonly string[] }
  | { readonly is: "broken"; readonly problems: readonly PlanProblem[] }
  /** No plan at all: something else that is written in markdown. */
  | { readonly is: "none" };

/**
 * What the text says is judged as a plan file is, by the same reader. What stands in it twice, for people, must
 * agree with the records. Never throws, and takes time in proportion to the text.
 */
export function parseMarkdown(text: string, options: ReadPlanOptions = {}): ParsedMarkdown {
  const sections = sectionsOf(text);
  if (!sections) return { is: "none" };
  const draft = draftOf(sections);
  if (draft.problems.length > 0) return { is: "broken", problems: first(draft.problems) };
  const read = readPlan(JSON.stringify(draft.value), options);
  if (read.is === "broken") return { is: "broken", problems: read.problems.map(placedBy(draft.numbers)) };
  const problems = contradictions(sections, read.plan);
  return problems.length > 0 ? { is: "broken", problems } : read;
}

/** More than a person fixes at once; a text that only begins like a plan has one in every line. */
const MAX_PROBLEMS = 100;

function first(problems: readonly PlanProblem[]): readonly PlanProblem[] {
  const more = problems.length - MAX_PROBLEMS;
  return more <= 0
    ? problems
    : [...problems.slice(0, MAX_PROBLEMS), { place: "", message: `and ${more} more` }];
}

/** The line besides the place, of which the nearest part that has a line of its own is looked for. */
const placedBy =
  (numbers: ReadonlyMap<string, number>) =>
  (problem: PlanProblem): PlanProblem => {
    for (let place = problem.place; place !== ""; place = place.replace(/(?:^|\.|\[)[^.[]*$/, "")) {
      const number = numbers.get(place);
      if (number !== undefined) return { ...problem, place: `line ${number} (${problem.place})` };
    }
    return problem;
  };
