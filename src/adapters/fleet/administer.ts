/** Administers a fleet's database as its owner: makes or migrates it, invites machines and revokes them. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Environment } from "../../ports/project.ts";
import { migrateJobs } from "../job-queues/boss.ts";
import { withoutBlockers } from "./blocking-sessions.ts";
import type { Database } from "./database.ts";
import { inviteMachine, revokeMachine, revokeShared } from "./machine-roles.ts";
import { openDatabase } from "./open-database.ts";
import { alone, migrateSchema, schemaProblem } from "./schema.ts";
import { makeWorkersRole } from "./workers-role.ts";

type FleetSettings = { readonly schema: string };

/** Makes the fleet's tables and the role of its workers, or migrates older ones. */
export async function initFleet(env: Environment, settings: FleetSettings) {
  const database = openDatabase(env, settings);
  if (hasFailed(database)) return database;
  await using _ = database;
  return await withoutBlockers(database, () =>
    alone(database, async () => {
      const migrated = await migrateSchema(database);
      if (hasFailed(migrated)) return migrated;
      const workers = await makeWorkersRole(database, env);
      if (hasFailed(workers)) return workers;
      return (await migrateJobs(database, env["SKEIN_FLEET_URL"] ?? "")) ?? { ...migrated, ...workers };
    }),
  );
}

/** Makes a role for one machine alone, which expires. */
export const inviteToFleet = (
  env: Environment,
  settings: FleetSettings,
  machine: { readonly name: string; readonly expiresMs: number },
) =>
  asOwner(env, settings, (database) =>
    inviteMachine(database, { url: env["SKEIN_FLEET_URL"] ?? "", ...machine }),
  );

/** `name`: of a machine that was invited; undefined means the role that all others share. */
export const revokeFromFleet = (env: Environment, settings: FleetSettings, name: string | undefined) =>
  asOwner(env, settings, (database) =>
    name === undefined ? revokeShared(database) : revokeMachine(database, name),
  );

async function asOwner<T extends object>(
  env: Environment,
  settings: FleetSettings,
  work: (database: Database) => Promise<T | Failed>,
): Promise<T | Failed> {
  const database = openDatabase(env, settings);
  if (hasFailed(database)) return database;
  await using _ = database;
  const problem = await schemaProblem(database);
  return problem ?? withoutBlockers(database, () => alone(database, () => work(database)));
}
