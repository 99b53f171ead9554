/** Which repository is meant, and which of its runs? What cannot be found is refused in words. */
import path from "node:path";
import type { Refused } from "../../../app/refused.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { runToShow } from "../../../app/which-run.ts";
import { openProject } from "../../../compose/project.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Project } from "../../../ports/project.ts";
import type { RepoOption } from "../commands/options.ts";
import { fleetSettings } from "../configuration.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type Exit } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";

export type { Exit };
export const hasExit = (result: object): result is Exit => "exit" in result;

export const NEVER: AbortSignal = new AbortController().signal;

export async function openHere(
  context: Context,
  options: OpenOptions,
  signal: AbortSignal = NEVER,
): Promise<Project | Exit> {
  const { repo = "." } = options;
  const project = await openProject(path.resolve(context.folder, repo), context.env, signal);
  if (hasFailed(project)) return { exit: refuse(context, EXIT.configuration, project.failure) };
  const fleet = await fleetSettings(context, project.located, options);
  if (fleet && "message" in fleet) return { exit: refuse(context, EXIT.configuration, fleet) };
  if (!fleet) return project;
  const { inFleet } = await import("../../../compose/fleet.ts");
  const fleets = await inFleet(project, context.env, fleet, signal);
  return hasFailed(fleets) ? { exit: refuse(context, EXIT.configuration, fleets.failure) } : fleets;
}

/** What may say that runs are in a fleet. */
type OpenOptions = RepoOption & { readonly set?: readonly string[]; readonly config?: string };

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
