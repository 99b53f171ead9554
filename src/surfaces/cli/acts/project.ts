/** Which repository is meant, and which of its runs? What cannot be found is refused in words. */
import path from "node:path";
import * as app from "../../../app/see-run.ts";
import { movedRuns, openProject, type Project } from "../../../compose/project.ts";
import { type Failure, failure } from "../../../core/failure.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Fold } from "../../../engine/fold.ts";
import type { RunHome } from "../../../ports/runs.ts";
import type { RepoOption } from "../commands/options.ts";
import { type Context, refuse, usage } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";
import { quoted } from "../words.ts";

/** It was said why; this is the exit code. */
export type Exit = { readonly exit: ExitCode };
export const hasExit = (result: object): result is Exit => "exit" in result;

export const NEVER: AbortSignal = new AbortController().signal;

export async function openHere(
  context: Context,
  { repo = "." }: RepoOption,
  signal: AbortSignal = NEVER,
): Promise<Project | Exit> {
  const project = await openProject(path.resolve(context.folder, repo), context.env, signal);
  return hasFailed(project) ? { exit: refuse(context, EXIT.configuration, project.failure) } : project;
}

export async function openRun(context: Context, project: Project, run: string): Promise<RunHome | Exit> {
  const home = await project.runs.open(run);
  if (!hasFailed(home)) return home;
  const broken = (await project.runs.list()).some((entry) => entry.run === run);
  const moved = broken ? undefined : await movedHere(project, run);
  if (moved) return { exit: refuse(context, EXIT.configuration, moved) };
  // A name that nobody has is a slip of the keyboard; a run that cannot be read is not.
  return { exit: refuse(context, broken ? EXIT.configuration : EXIT.usage, home.failure) };
}

/** Runs that were begun when the repository was elsewhere; one of that name, if one is meant. */
export async function movedHere(project: Project, run?: string): Promise<Failure | undefined> {
  const all = await movedRuns(project);
  const moved = run === undefined ? all[0] : all.find(({ runs }) => runs.includes(run));
  if (!moved) return undefined;
  const { from, folder, runs } = moved;
  const [old, here] = [path.join(folder, "runs"), path.join(project.stateFolder, "runs")];
  const what = run === undefined ? `${runs.slice(0, 5).join(", ")}: they were` : `run ${run}: it was`;
  return failure(
    "repository",
    `this repository was moved, and its state folder does not know ${what} begun when it was in ${from}`,
    `move it back; or bring them along: mkdir -p ${quoted(here)} && mv ${quoted(old)}/${run ?? "*"} ${quoted(here)}/`,
  );
}

/** What the log says; a log that cannot be read is refused. */
export async function seeRun(context: Context, home: RunHome): Promise<Fold | Exit> {
  const run = await app.seeRun(home);
  return hasFailed(run) ? { exit: sayRefused(context, run) } : run.seen;
}

export async function openSeen(context: Context, project: Project, run: string): Promise<app.SeenRun | Exit> {
  const home = await openRun(context, project, run);
  if (hasExit(home)) return home;
  const seen = await seeRun(context, home);
  return hasExit(seen) ? seen : { home, seen };
}

/** The run that is named; else the one that is open; else the newest. */
export async function openNamed(
  context: Context,
  project: Project,
  run?: string,
): Promise<app.SeenRun | Exit> {
  if (run !== undefined) return openSeen(context, project, run);
  const all = await app.runsWhere(project.runs);
  const [open, ...others] = all.filter(({ seen }) => seen.state.closed === undefined);
  const meant = open !== undefined && others.length === 0 ? open : all[0];
  if (meant) return meant;
  const message = "there is no run in this repository that could be shown";
  return { exit: usage(context, message, "`skein status` lists the runs; `skein run` starts one") };
}
