/** `skein report`: prints the results of a run, open or closed, for the terminal, as markdown or as HTML. */

import { readdirSync } from "node:fs";
import path from "node:path";
import { deliverableOf } from "../../../app/deliverable.ts";
import { targetOf } from "../../../app/lost-run.ts";
import { gitIn } from "../../../compose/project.ts";
import { budgetOf } from "../../../core/view/budget-left.ts";
import { runWord } from "../../../core/view/labels.ts";
import { runReport } from "../../../core/view/report.ts";
import { type RunView, viewOf } from "../../../core/view/view.ts";
import type { Project } from "../../../ports/project.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { hasExit, openHere, openNamed } from "../acts/project.ts";
import { pageColumns } from "../columns.ts";
import { type Act, type Context, say, usage, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { type Around, reportOf } from "../render/report.ts";
import { linesOf, type ReportSection } from "../render/sections.ts";
import { htmlOf } from "../render/sections-html.ts";
import { markdownOf } from "../render/sections-markdown.ts";
import { workersOf } from "../run-record.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addReport: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Prints the results of a run: what landed with its proof, what did not and why, cost, where the time went, and " +
        "what would be faster next time. For a run that is still open: the state so far. Without a run: the open one, " +
        "else the newest.",
    )
    .option("--markdown", "as markdown")
    .option("--html", "as one HTML page with pictures, which needs nothing else")
    .addHelpText(
      "after",
      examples(
        "skein report",
        "skein report 1115-k7qd --html > report.html",
        "skein report 1115-k7qd --markdown > report.md",
        "skein report 1115-k7qd --json",
      ),
    )
    .action((run: string | undefined, options: ReportOptions) =>
      perform((context) => report(context, { ...options, run })),
    );
};

type ReportOptions = RepoOption & { readonly markdown?: true; readonly html?: true };

const report: Act<ReportOptions & { readonly run: string | undefined }> = async (context, options) => {
  if ([options.markdown, options.html, context.json].filter(Boolean).length > 1)
    return usage(context, "a report has one form: --markdown, --html or --json", "skein report --help");
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await openNamed(context, project, options.run);
  if (hasExit(found)) return found.exit;
  const { home, seen } = found;
  const owner = await home.owner();
  const view = viewOf(seen);
  const measured = runReport(seen, workersOf(home.record));
  if (context.json) {
    const bring = await deliverableOf(home.record, view, gitIn(project));
    writeJson(context, {
      ...view,
      state: runWord(view, owner !== undefined),
      isOver: seen.state.closed !== undefined,
      branch: targetOf(home.record),
      ...(bring.is === "delivered" ? { deliveredTo: bring.branch } : {}),
      ...resultsIn(home),
      report: measured,
    });
    return EXIT.done;
  }
  const open = owner === undefined ? "stopped" : "going";
  const end = { view, report: measured, ...(seen.state.closed ? {} : ({ open } as const)) };
  if (!options.markdown && !options.html) await sayEnd(context, project, home, end);
  else {
    const sections = await endSections({ ...context, hasOwnHints: true }, project, home, end);
    context.out.write((options.html ? htmlOf : markdownOf)(sections, view.goal));
  }
  return EXIT.done;
};

/** With `report`, the full form. Without a budget, the recorded one is used. */
type End = { readonly view: RunView } & Pick<Around, "budget" | "open" | "report">;

export async function sayEnd(context: Context, project: Project, home: RunHome, end: End): Promise<void> {
  const sections = await endSections(context, project, home, end);
  for (const { tone, text } of linesOf(sections, pageColumns(context.out)))
    say(context, paint(context.out, tone, text));
}

async function endSections(
  context: Context,
  { located }: Project,
  home: RunHome,
  { view, budget = budgetOf(home.record), open, report: measured }: End,
): Promise<readonly ReportSection[]> {
  const { plan } = home.record;
  return reportOf(view, {
    target: targetOf(home.record),
    command: context.command,
    bring: await deliverableOf(home.record, view, gitIn({ located })),
    hints: context.hasOwnHints !== true,
    budget,
    ...(plan === undefined ? {} : { follows: resultsIn(home) }),
    ...(open === undefined ? {} : { open }),
    ...(measured && { report: measured }),
  });
}

/** Follows a link at the folder itself, which the person chose. Files with a leading dot are not results. */
function resultsIn({ folder }: RunHome): { readonly results?: string } {
  const results = path.join(folder, "scratchpad");
  try {
    return readdirSync(results).some((name) => !name.startsWith(".")) ? { results } : {};
  } catch {
    return {}; // The folder was moved or removed.
  }
}
