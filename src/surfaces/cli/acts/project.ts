/** Opens the repository and the run that a command names, and refuses with a reason if they cannot be found. */
import path from "node:path";
import type { Misconfigured } from "../../../app/inspect/facts.ts";
import { type Refused, refused } from "../../../app/refused.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import { findRun, runToShow } from "../../../app/which-run.ts";
import { openProject } from "../../../compose/project.ts";
import type { Config } from "../../../config/schema.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import type { Project } from "../../../ports/project.ts";
import { type Agrees, type TrustAsk, trustOf } from "../../../ports/trust.ts";
import type { RepoOption, TrustOption } from "../commands/options.ts";
import { fleetSettings } from "../configuration.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type Exit } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";
import { agreedBy, askOrRefuse, standingHere } from "../trust.ts";

export type { Exit };
export const hasExit = (result: object): result is Exit => "exit" in result;

export const NEVER: AbortSignal = new AbortController().signal;

export async function openHere(
  context: Context,
  options: OpenOptions,
  signal: AbortSignal = NEVER,
): Promise<Project | Exit> {
  const { repo = "." } = options;
  const project = await openTrusted(context, path.resolve(context.folder, repo), options, signal);
  if (hasExit(project)) return project;
  const fleet = await fleetSettings(context, project.located, options);
  if (fleet && "message" in fleet) return { exit: refuse(context, EXIT.configuration, fleet) };
  if (!fleet) return whereRunIs(context, project, options, signal);
  const fleets = await openFleets(context, project, fleet, signal);
  return hasFailed(fleets) ? { exit: refuse(context, EXIT.configuration, fleets.failure) } : fleets;
}

/** Options that may say that runs are in a fleet; and the named run, if any. */
type OpenOptions = RepoOption &
  TrustOption & {
    readonly set?: readonly string[];
    readonly config?: string;
    readonly run?: string | undefined;
    /** The run was begun before, and keeps what was agreed to then. */
    readonly isBegun?: true;
  };

/** If the repository's git settings ask for something, a person must agree, or the repository is not opened. */
export async function openTrusted(
  context: Context,
  folder: string,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<Project | Exit> {
  const project = await openProject(folder, context.env, signal);
  const { untrusted: asks } = project as { readonly untrusted?: readonly TrustAsk[] };
  if (!hasFailed(project)) return project;
  if (asks === undefined) return { exit: refuse(context, EXIT.configuration, project.failure) };
  const also = await agreedElsewhere(context, folder, options);
  if (also && "message" in also) return { exit: refuse(context, EXIT.configuration, also) };
  if (!also || !asks.every(also)) {
    const refused = await askOrRefuse(context, folder, options);
    if (refused !== undefined) return { exit: refused };
  }
  const opened = await openProject(folder, context.env, signal, also);
  return hasFailed(opened) ? { exit: refuse(context, EXIT.configuration, opened.failure) } : opened;
}

/** Agreement by `--trust`, or when the run was begun. */
async function agreedElsewhere(
  context: Context,
  folder: string,
  { trust, run, isBegun, ...options }: OpenOptions,
): Promise<Agrees | Misconfigured | undefined> {
  if (trust === undefined && !isBegun) return undefined;
  const here = await standingHere(context, folder, options);
  if (hasFailed(here)) return { ...here.failure, kind: "configuration" };
  if (trust !== undefined) return agreedBy(context, here.standing, trust);
  const { runs } = here.project;
  const records = run === undefined ? await runs.list() : [await runs.open(run)];
  const known = records.flatMap((one) => (hasFailed(one) ? [] : ["record" in one ? one.record : one]));
  return (ask) => known.some((record) => trustOf(record)(ask));
}

/** Looks in the fleet for a run that this machine does not have, so that printed commands work without --fleet. */
async function whereRunIs(
  context: Context,
  project: Project,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<Project | Exit> {
  const { run } = options;
  if (run === undefined || !context.env["SKEIN_FLEET_URL"]) return project;
  const here = await findRun(run, project);
  if (!hasFailed(here) || here.because !== "unknown-run") return project;
  const settings = await fleetSettings(context, project.located, { ...options, fleet: true });
  if (!settings || "message" in settings) return project;
  const fleets = await openFleets(context, project, settings, signal);
  const there = hasFailed(fleets) ? fleets : await fleets.runs.open(run);
  if (!hasFailed(fleets) && !hasFailed(there)) return fleets;
  const { message } = (there as Failed).failure;
  const next = "`skein status` lists the runs of this machine, `skein status --fleet` those of the fleet";
  return {
    exit: sayRefused(
      context,
      refused("unknown-run", { ...here.failure, next }, [`in the fleet: ${message}`]),
    ),
  };
}

async function openFleets(
  { env }: Context,
  project: Project,
  settings: Config["fleet"],
  signal: AbortSignal,
): Promise<Project | Failed> {
  const { inFleet } = await import("../../../compose/fleet.ts"); // Slow to load, and rarely needed.
  return inFleet(project, env, settings, signal);
}

/** The result of a use case; a refusal is printed. */
export async function orExit<Result extends object>(
  context: Context,
  found: Promise<Result | Refused>,
): Promise<Result | Exit> {
  const result = await found;
  return hasFailed(result) ? { exit: sayRefused(context, result as Refused) } : (result as Result);
}

/** The named run, else the open one, else the newest. */
export const openNamed = (context: Context, project: Project, run?: string): Promise<SeenRun | Exit> =>
  orExit(context, runToShow(run, project));
