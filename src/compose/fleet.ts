/** Opens a fleet for the surfaces: a project whose runs are in Postgres, and the fleet's status. */
import { FleetRuns } from "../adapters/fleet/fleet-runs.ts";
import { openDatabase } from "../adapters/fleet/open-database.ts";
import { repositoryName } from "../adapters/fleet/repository-name.ts";
import { schemaProblem } from "../adapters/fleet/schema.ts";
import { lookAtFleet } from "../adapters/fleet/status.ts";
import { remoteRefsOf } from "../adapters/objects/left-refs.ts";
import { GitRemote } from "../adapters/objects/remote.ts";
import type { Config } from "../config/schema.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Environment, Project } from "../ports/project.ts";

export { initFleet, inviteToFleet, revokeFromFleet } from "../adapters/fleet/administer.ts";

type FleetSettings = Config["fleet"];

/** The same repository, with the runs of the fleet. */
export async function inFleet(
  project: Project,
  env: Environment,
  settings: FleetSettings,
  signal: AbortSignal,
): Promise<Project | Failed> {
  const database = openDatabase(env, settings);
  if (hasFailed(database)) return database;
  const problem = await schemaProblem(database);
  if (problem) return problem;
  const repository = await repositoryName(project.located.top, settings.remote, signal);
  if (hasFailed(repository)) return repository;
  const runs = new FleetRuns({ database, repository: repository.name, folder: project.stateFolder });
  const { gitDir } = project.located;
  const remote = new GitRemote({ gitDir, remote: settings.remote, patienceMs: 0 });
  const remoteRefs = remoteRefsOf(remote, async () => (await runs.list()).map(({ run }) => run));
  return { ...project, runs, remoteRefs, isFleets: true, movedRuns: async () => [] };
}

/** The workers of the fleet, how many jobs wait, and the accounts that no machine may call now. */
export async function fleetStatus(env: Environment, settings: FleetSettings) {
  const database = openDatabase(env, settings);
  if (hasFailed(database)) return database;
  await using _ = database;
  return (await schemaProblem(database)) ?? (await lookAtFleet(database));
}
