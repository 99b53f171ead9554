/** Does what a plan's markdown says for people agree with its records? Its status, its table and its waves. */
import type { PlanProblem } from "../files/place.ts";
import { AGENT_PREFIX, type ExecutionPlan, isReady } from "../plan.ts";
import { plain, unescaped } from "./escape.ts";
import { COLUMNS, cellsOf, READY, UNCLEAR, wavesText } from "./markdown.ts";
import { problemAt, type Section, type Sections, type SourceLine, textOf } from "./markdown-sections.ts";

/** A person who edited only one of the two is told. A part that was removed is not missed. */
export function contradictions({ byLabel }: Sections, plan: ExecutionPlan): readonly PlanProblem[] {
  const status = byLabel.get("Status");
  const table = byLabel.get("Subtasks with Agent Assignments");
  const waves = byLabel.get("Wave Breakdown");
  return [
    ...(status ? statusProblems(status, plan) : []),
    ...(table ? differences(table, tableRows(table), tableRowsOf(plan)) : []),
    ...(waves ? differences(waves, waveRows(waves), waveRowsOf(plan)) : []),
  ];
}

function statusProblems(section: Section, plan: ExecutionPlan): readonly PlanProblem[] {
  const expected = isReady(plan) ? READY : UNCLEAR;
  if (textOf(section) === expected) return [];
  const why = isReady(plan) ? "no question blocks it" : "a question blocks it";
  return [problemAt(section.number, `the status must be "${expected}": ${why}`)];
}

/** One is enough: after a row too many, each one differs. */
function differences(
  section: Section,
  rows: readonly SourceLine[],
  expected: readonly string[],
): readonly PlanProblem[] {
  const at = expected.findIndex((text, index) => rows[index]?.text !== text);
  const next = "change both, or take this part out: it is made from the records";
  if (at === -1 && rows.length === expected.length) return [];
  if (at === -1)
    return [problemAt(rows[expected.length]!.number, "the records say nothing of this line", next)];
  const found = rows[at];
  const message = found
    ? `this line says ${shown(found.text)}, and the records say ${shown(expected[at]!)}`
    : `a line is missing: ${shown(expected[at]!)}`;
  return [problemAt(found?.number ?? section.number, message, next)];
}

const MAX_SHOWN = 200;
const shown = (text: string): string =>
  JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

const asRow = (cells: readonly string[]): string => cells.map(joined).join(" | ");
/** A prefix of agents is for other tools: the records are read without it. */
const joined = (text: string): string => plain(text).replaceAll(AGENT_PREFIX, "").replace(/ +/g, " ");

const tableRowsOf = ({ tasks }: ExecutionPlan): readonly string[] => [
  asRow(COLUMNS),
  ...tasks.map((task) => asRow(cellsOf(task))),
];

function tableRows({ lines }: Section): readonly SourceLine[] {
  return lines.flatMap(({ number, text }) => {
    const cells = cellsIn(text);
    if (text.trim() === "" || (cells.length > 0 && cells.every((cell) => /^ *:?-+:? *$/.test(cell))))
      return [];
    return [{ number, text: asRow(cells.map(unescaped)) }];
  });
}

/** A pipe after a backslash is text. */
function cellsIn(line: string): readonly string[] {
  const cells: string[] = [];
  let start = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === "|") {
      cells.push(line.slice(start, at));
      start = at + 1;
    }
  }
  return cells.slice(1);
}

/** A task's line could look like a heading, too: both sides are read alike. */
const asWaveRow = (text: string): string => joined(text).replace(/^#{1,6} (?=Wave )/, "");

const waveRowsOf = ({ tasks }: ExecutionPlan): readonly string[] =>
  wavesText(tasks).flatMap(({ heading, lines }) => [heading, ...lines].map(asWaveRow));

const waveRows = ({ lines }: Section): readonly SourceLine[] =>
  lines.flatMap(({ number, text }) => (text === "" ? [] : [{ number, text: asWaveRow(text) }]));
