/** Shows a run on the whole terminal, with its files, its budget, and a way to send commands to it. */
import { setFlagsFromString } from "node:v8";
import { deliveryOf } from "../../../app/deliverable.ts";
import { seeRun } from "../../../app/see-run.ts";
import { tellRun } from "../../../app/tell-run.ts";
import { partsOf } from "../../../compose/parts.ts";
import { serverParts } from "../../../compose/serve.ts";
import { hasFailed } from "../../../core/result.ts";
import { type Budget, budgetOf } from "../../../core/view/budget-left.ts";
import type { Project } from "../../../ports/project.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { sentence } from "../../../text/words.ts";
import type { Watching } from "../../tui/watch-run.ts";
import type { Context } from "../context.ts";

type Shown = Pick<Watching, "leave" | "onOpen" | "interrupt" | "isOwn"> & {
  readonly home: RunHome;
  /** Given if it was changed since it was recorded. */
  readonly budget?: Budget;
};

/** Ends when the person leaves, or with `signal`. */
export async function showOnScreen(
  context: Context,
  project: Project,
  { home, budget = budgetOf(home.record), ...shown }: Shown,
  signal: AbortSignal,
): Promise<void> {
  const { files } = serverParts(project);
  const parts = partsOf(project, context.env);
  // Ink reads only this variable.
  if (!context.out.hasColours) process.env["FORCE_COLOR"] = "0";
  // Reading a log makes garbage faster than V8 collects it: V8 would hold 34 MB more, and not be faster (10,000 tasks).
  setFlagsFromString("--semi-space-growth-factor=1");
  const { watchRun } = await import("../../tui/watch-run.ts"); // Loads React only for viewers.
  const say: Watching["say"] = async (command) => {
    const run = await seeRun(home);
    const told = hasFailed(run) ? run : await tellRun({ ...run, command }, parts, signal);
    if (!hasFailed(told)) return told.is === "heard" ? `${command.type}: sent to the run` : told.note;
    const { message, next } = told.failure;
    return next === undefined ? `refused: ${message}` : `${sentence(`refused: ${message}`)} Try: ${next}`;
  };
  const delivery = await deliveryOf(home.record, parts.git);
  await watchRun({ delivery, home, files, budget, say, ...shown }, signal);
}
