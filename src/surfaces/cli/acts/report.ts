/** `skein report`: how did a run end, or how far has it come? Said as `skein run` says it at the end. */
import { readdirSync } from "node:fs";
import path from "node:path";
import type { Project } from "../../../compose/project.ts";
import { targetBranchOf } from "../../../core/brief.ts";
import { type RunView, viewOf } from "../../../core/view.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { type Act, type Context, say, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { type Around, reportOf } from "../report.ts";
import type { Budget } from "../spent-text.ts";
import type { ReportOptions } from "../verbs/options.ts";
import { onPage } from "../words.ts";
import { bringOf, checkedOutIn } from "./deliver-command.ts";
import { budgetOf, prefixOf } from "./names.ts";
import { hasExit, openHere, openNamed } from "./project.ts";
import { runWord } from "./run-state.ts";

export const report: Act<ReportOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await openNamed(context, project, options.run);
  if (hasExit(found)) return found.exit;
  const { home, seen } = found;
  const owner = await home.owner();
  const view = viewOf(seen);
  if (context.json) {
    const bring = seen.state.closed && (await bringOf(project, home.record, view));
    writeJson(context, {
      ...view,
      state: runWord(view, owner),
      isOver: seen.state.closed !== undefined,
      branch: targetBranchOf(view.run, prefixOf(home.record)),
      ...(bring?.is === "delivered" ? { deliveredTo: bring.branch } : {}),
      ...resultsIn(home),
    });
    return EXIT.done;
  }
  const open = owner === undefined ? "stopped" : "going";
  await sayEnd(context, project, home, { view, ...(seen.state.closed ? {} : { open }) });
  return EXIT.done;
};

/** Where nothing is said of the budget, it is the one that was recorded. */
export async function sayEnd(
  context: Context,
  { located }: Project,
  home: RunHome,
  {
    view,
    budget = budgetOf(home.record),
    open,
  }: { readonly view: RunView; budget?: Budget } & Pick<Around, "open">,
): Promise<void> {
  const { baseBranch, plan } = home.record;
  const where = baseBranch === undefined ? undefined : await checkedOutIn(located.top, baseBranch);
  const lines = reportOf(view, {
    target: targetBranchOf(home.record.run, prefixOf(home.record)),
    command: context.command,
    isCheckedOut: where !== undefined,
    budget,
    ...(plan === undefined ? {} : { follows: resultsIn(home) }),
    ...(open === undefined ? {} : { open }),
  });
  for (const { tone, text, isProse } of lines)
    say(context, paint(context.out, tone, isProse ? onPage(context.out, text, "    ") : text));
}

/** A link leads there where the person named the folder. What starts with a dot is no result. */
function resultsIn({ folder }: RunHome): { readonly results?: string } {
  const results = path.join(folder, "scratchpad");
  try {
    return readdirSync(results).some((name) => !name.startsWith(".")) ? { results } : {};
  } catch {
    return {}; // Somebody has put it away.
  }
}
