/** `skein report`: the report that `skein run` prints at its end, also of a run that is not over. */

import { readdirSync } from "node:fs";
import path from "node:path";
import { checkedOutIn, deliverableOf } from "../../../app/deliverable.ts";
import { targetOf } from "../../../app/lost-run.ts";
import type { Project } from "../../../compose/project.ts";
import { gitIn } from "../../../compose/project.ts";
import { type RunView, viewOf } from "../../../core/view/view.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { hasExit, openHere, openNamed } from "../acts/project.ts";
import { runWord } from "../acts/run-state.ts";
import { onPage } from "../columns.ts";
import { type Act, type Context, say, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import type { Budget } from "../render/cost.ts";
import { type Around, reportOf } from "../render/report.ts";
import { budgetOf } from "../run-record.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

export const addReport: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Prints the report of `skein run` again: what landed, what was retried and why, what is not done, time and cost. " +
        "For a run that is still open: the state so far. Without a run: the open one, else the newest.",
    )
    .addHelpText("after", examples("skein report", "skein report 1115-k7qd", "skein report 1115-k7qd --json"))
    .action((run: string | undefined, options: RepoOption) =>
      perform((context) => report(context, { ...options, run })),
    );
};

const report: Act<RepoOption & { readonly run: string | undefined }> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await openNamed(context, project, options.run);
  if (hasExit(found)) return found.exit;
  const { home, seen } = found;
  const owner = await home.owner();
  const view = viewOf(seen);
  if (context.json) {
    const bring = seen.state.closed && (await deliverableOf(home.record, view, gitIn(project)));
    writeJson(context, {
      ...view,
      state: runWord(view, owner),
      isOver: seen.state.closed !== undefined,
      branch: targetOf(home.record),
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
  const where = baseBranch === undefined ? undefined : await checkedOutIn(baseBranch, gitIn({ located }));
  const lines = reportOf(view, {
    target: targetOf(home.record),
    command: context.command,
    isCheckedOut: where !== undefined,
    hints: context.hasOwnHints !== true,
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
