/** `skein diff`: compares two runs, figure by figure and task by task. */
import { type Comparison, compareRuns, type FigureChange } from "../../../core/view/compare-runs.ts";
import { runReport } from "../../../core/view/report.ts";
import { harmless } from "../../../text/words.ts";
import { hasExit, openHere, openNamed } from "../acts/project.ts";
import { pageColumns } from "../columns.ts";
import { type Act, say, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { FIGURES, valueText } from "../render/figures.ts";
import { linesOf, type ReportSection, section } from "../render/sections.ts";
import { workersOf } from "../run-record.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addDiff: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Compares two runs of this repository: every figure of their reports side by side, and the tasks that ended " +
        "differently. The change is second run minus first.",
    )
    .addHelpText("after", examples("skein diff 1115-k7qd 1116-m2xa", "skein diff 1115-k7qd 1116-m2xa --json"))
    .action((run: string, other: string, options: RepoOption) =>
      perform((context) => diff(context, { ...options, runs: [run, other] })),
    );
};

const diff: Act<RepoOption & { readonly runs: readonly [string, string] }> = async (context, options) => {
  const project = await openHere(context, { ...options, run: options.runs[0] });
  if (hasExit(project)) return project.exit;
  const sides = [];
  for (const run of options.runs) {
    const found = await openNamed(context, project, run);
    if (hasExit(found)) return found.exit;
    const { home, seen } = found;
    sides.push({ state: seen.state, report: runReport(seen, workersOf(home.record)) });
  }
  const [one, other] = sides as [(typeof sides)[0], (typeof sides)[0]];
  const compared = compareRuns(one, other);
  const [before, after] = options.runs;
  if (context.json) writeJson(context, { before, after, ...compared });
  else
    for (const { tone, text } of linesOf(sectionsOf(compared, options.runs), pageColumns(context.out)))
      say(context, paint(context.out, tone, text));
  return EXIT.done;
};

function sectionsOf(
  { isEqual, figures, tasks }: Comparison,
  [before, after]: readonly [string, string],
): readonly ReportSection[] {
  if (isEqual) return [section(`Runs ${before} and ${after} are equal.`, [], "good")];
  const changed = figures.filter((one) => one.before !== one.after);
  const same = figures.length - changed.length;
  const ends = tasks.map(({ name, before: was, after: is }) => [
    harmless(name, 60),
    was ?? "not there",
    is ?? "not there",
  ]);
  const head = ["", before, after];
  return [
    section(`Figures that differ (${changed.length}; ${same} are equal)`, [
      { is: "rows", head: [...head, "change"], rows: changed.map(figureRow) },
    ]),
    ...(ends.length === 0
      ? []
      : [section(`Tasks that ended differently (${ends.length})`, [{ is: "rows", head, rows: ends }])]),
  ];
}

function figureRow({ figure, before, after, change }: FigureChange): readonly string[] {
  const [label, unit] = FIGURES[figure];
  const sign = change !== null && change < 0 ? "−" : "+";
  const by = change === null ? "unknown" : `${sign}${valueText(unit, Math.abs(change))}`;
  return [label, valueText(unit, before), valueText(unit, after), by];
}
