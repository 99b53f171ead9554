/** Which repository is meant, and which of its runs? What cannot be found is refused in words. */
import path from "node:path";
import type { Refused } from "../../../app/refused.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { runToShow } from "../../../app/which-run.ts";
import { openProject } from "../../../compose/project.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Project } from "../../../ports/project.ts";
import type { RepoOption } from "../commands/options.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";

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

/** What a use case gave; a refusal is said. */
export async function orExit<Result extends object>(
  context: Context,
  found: Promise<Result | Refused>,
): Promise<Result | Exit> {
  const result = await found;
  return hasFailed(result) ? { exit: sayRefused(context, result as Refused) } : (result as Result);
}

/** The run that is named; else the one that is open; else the newest. */
export const openNamed = (context: Context, project: Project, run?: string): Promise<SeenRun | Exit> =>
  orExit(context, runToShow(run, project));
