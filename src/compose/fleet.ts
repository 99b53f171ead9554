/** What do surfaces get of the fleet? Its tables made, and its workers listed. */
import { openDatabase } from "../adapters/fleet/open-database.ts";
import { migrateSchema, schemaProblem } from "../adapters/fleet/schema.ts";
import { type FleetWorker, listWorkers } from "../adapters/fleet/workers.ts";
import type { Config } from "../config/schema.ts";
import { hasFailed } from "../core/result.ts";
import type { Environment } from "../ports/project.ts";

export type { FleetWorker };

type FleetSettings = Config["fleet"];

/** Makes the fleet's tables, or brings older ones up to date. */
export async function initFleet(env: Environment, settings: FleetSettings) {
  const database = openDatabase(env, settings);
  if (hasFailed(database)) return database;
  await using _ = database;
  return migrateSchema(database);
}

/** The workers of the fleet, and when each was last heard of. */
export async function fleetWorkers(env: Environment, settings: FleetSettings) {
  const database = openDatabase(env, settings);
  if (hasFailed(database)) return database;
  await using _ = database;
  return (await schemaProblem(database)) ?? listWorkers(database);
}
