/** Makes the fleet's tables in Postgres, or migrates older ones: one process at a time, all steps or none. */
import type { Client } from "pg";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import { bossSchema, type Database, inSchema } from "./database.ts";
import { GOVERNOR } from "./sql/governor.ts";
import { GOVERNOR_FUNCTIONS } from "./sql/governor-functions.ts";
import { MACHINES } from "./sql/machines.ts";
import { RUN_FUNCTIONS, RUNS } from "./sql/runs.ts";
import { WORKER_FUNCTIONS } from "./sql/worker-functions.ts";
import { WORKERS } from "./sql/workers.ts";

/** The tables, step by step. A released step is never changed: a later change is a step of its own. */
const STEPS: readonly (readonly string[])[] = [[RUNS, WORKERS, GOVERNOR], [MACHINES]];
/** Functions have no state, so every migration makes all of them anew. */
const FUNCTIONS: readonly string[] = [RUN_FUNCTIONS, WORKER_FUNCTIONS, GOVERNOR_FUNCTIONS];
/** Version 1 was never released: in it, every worker could read the jobs of all others. */
const FIRST = 2;
const VERSION = FIRST + STEPS.length - 1;

type Migrated = { readonly from: number; readonly to: number };

/**
 * Runs `work` in one process at a time. The lock belongs to the connection, so it is free again when the process
 * dies.
 */
export const alone = <T extends object>(database: Database, work: () => Promise<T | Failed>) =>
  database.within(async (client): Promise<T | Failed> => {
    await client.query("SET lock_timeout = 0"); // Another process may take long.
    await client.query("SELECT pg_advisory_lock(hashtext($1))", [`skein:${database.schema}`]);
    return work();
  });

/** Makes the schema, or migrates an older one. */
export const migrateSchema = (database: Database): Promise<Migrated | Failed> =>
  database.within(async (client) => {
    const sql = (text: string) => inSchema(text, database.schema);
    await client.query(sql("CREATE SCHEMA IF NOT EXISTS $S"));
    await client.query(sql("CREATE TABLE IF NOT EXISTS $S.version (number int NOT NULL)"));
    const { rows } = await client.query<VersionRow>(sql("SELECT number FROM $S.version"));
    const from = rows[0]?.number ?? 0;
    if (from > VERSION) return newer(database.schema, from);
    if (from > 0 && from < FIRST) return unreleased(database.schema);
    if (from < VERSION) await take(client, STEPS.slice(Math.max(0, from - FIRST + 1)).flat(), sql);
    return { from, to: VERSION };
  });

type VersionRow = { readonly number: number };

async function take(client: Client, steps: readonly string[], sql: (text: string) => string): Promise<void> {
  await client.query("BEGIN");
  for (const text of [...steps, DROP_FUNCTIONS, ...FUNCTIONS]) await client.query(sql(text));
  await client.query(sql("DELETE FROM $S.version"));
  await client.query(sql("INSERT INTO $S.version VALUES ($1)"), [VERSION]);
  await client.query("COMMIT"); // After a failure the connection is closed, which rolls everything back.
}

/** Drops all functions but the one that triggers of the queue need. */
const DROP_FUNCTIONS = `
  DO $do$ DECLARE _one regprocedure; BEGIN
    FOR _one IN SELECT oid FROM pg_proc WHERE pronamespace = '$S'::regnamespace AND prorettype <> 'trigger'::regtype LOOP
      EXECUTE format('DROP FUNCTION %s', _one);
    END LOOP;
  END $do$`;

/** A person waits for this first question, so it is retried for less time than statements of a running job. */
const FIRST_PATIENCE_MS = 5_000;

/** Why this Skein cannot use the database as it is. */
export async function schemaProblem(database: Database, signal?: AbortSignal): Promise<Failed | undefined> {
  const rows = await database.ask<VersionRow>("SELECT number FROM $S.version", [], {
    patienceMs: FIRST_PATIENCE_MS,
    ...(signal && { signal }),
  });
  if (hasFailed(rows)) return rows;
  const number = rows[0]?.number ?? 0;
  if (number > VERSION) return newer(database.schema, number);
  if (number === VERSION) return undefined;
  if (number < FIRST) return unreleased(database.schema);
  const why = `the fleet's Postgres has an older fleet (schema ${database.schema}, number ${number}, not ${VERSION})`;
  return failedWith("repository", why, "`skein fleet init` brings it up to date; what it holds is kept");
}

const unreleased = (schema: string): Failed =>
  failedWith(
    "repository",
    `the fleet's Postgres has a fleet of a Skein that was never released (schema ${schema})`,
    `remove it with its runs (DROP SCHEMA ${schema}, ${bossSchema(schema)} CASCADE), then \`skein fleet init\``,
  );

const newer = (schema: string, number: number): Failed =>
  failedWith(
    "repository",
    `the fleet's Postgres was made by a newer Skein (schema ${schema}, number ${number}; this one knows ${VERSION})`,
    "update Skein on this machine",
  );
