/** Which plan does a markdown text say? What `renderMarkdown` wrote, also after a person has edited it. */
import type { PlanProblem } from "../files/place.ts";
import { type ReadPlanOptions, readPlan } from "../files/read-plan.ts";
import { AGENT_PREFIX, type ExecutionPlan, isReady } from "../plan.ts";
import { plain, unescaped } from "./escape.ts";
import { READY, renderMarkdown, UNCLEAR } from "./markdown.ts";
import { draftOf } from "./markdown-draft.ts";
import {
  problemAt,
  type Section,
  type Sections,
  type SourceLine,
  sectionsOf,
  textOf,
} from "./markdown-sections.ts";

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

/** Parts that say again, for people, what is in the records. */
const VIEWS = ["Subtasks with Agent Assignments", "Wave Breakdown"] as const;

/** A person who edited only one of the two is told. A part that was removed is not missed. */
function contradictions({ byLabel }: Sections, plan: ExecutionPlan): readonly PlanProblem[] {
  const status = byLabel.get("Status");
  const expected = sectionsOf(renderMarkdown(plan))!.byLabel;
  return [
    ...(status ? statusProblems(status, plan) : []),
    ...VIEWS.flatMap((label) => {
      const section = byLabel.get(label);
      return section ? differences(section, rowsOf(expected.get(label)!)) : [];
    }),
  ];
}

function statusProblems(section: Section, plan: ExecutionPlan): readonly PlanProblem[] {
  const expected = isReady(plan) ? READY : UNCLEAR;
  if (textOf(section) === expected) return [];
  const why = isReady(plan) ? "no question blocks it" : "a question blocks it";
  return [problemAt(section.number, `the status must be "${expected}": ${why}`)];
}

/** One is enough: after a row too many, each one differs. */
function differences(section: Section, expected: readonly SourceLine[]): readonly PlanProblem[] {
  const rows = rowsOf(section);
  const at = expected.findIndex(({ text }, index) => rows[index]?.text !== text);
  const next = "change both, or remove this part: it is generated from the records";
  if (at === -1 && rows.length === expected.length) return [];
  if (at === -1)
    return [problemAt(rows[expected.length]!.number, "the records do not contain this line", next)];
  const [found, wanted] = [rows[at], shown(expected[at]!.text)];
  const message = found
    ? `this line says ${shown(found.text)}, and the records say ${wanted}`
    : `a line is missing: ${wanted}`;
  return [problemAt(found?.number ?? section.number, message, next)];
}

const MAX_SHOWN = 200;
const shown = (text: string): string =>
  JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** Without rules between rows, and however blanks, headings and the prefix of agents are written. */
const rowsOf = ({ lines }: Section): readonly SourceLine[] =>
  lines.flatMap(({ number, text }) => {
    if (/^[\s|:-]*$/.test(text)) return [];
    const row = plain(unescaped(text))
      .replaceAll(AGENT_PREFIX, "")
      .replace(/^#{1,6} (?=Wave )/, "");
    const cells = row.replace(/^\||\|$/g, "").replace(/ *\| */g, " | ");
    return [{ number, text: cells.replace(/ +/g, " ").trim() }];
  });
