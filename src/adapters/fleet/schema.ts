/** How do the fleet's tables come into Postgres? By numbered steps, one process at a time, each whole or not at all. */
import type { Client } from "pg";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import { bossSchema, type Database, inSchema } from "./database.ts";
import { GOVERNOR } from "./sql/governor.ts";
import { RUNS } from "./sql/runs.ts";
import { WORKERS } from "./sql/workers.ts";

/** Steps that were released are never changed: what comes later is a step of its own. */
const STEPS: readonly (readonly string[])[] = [[RUNS, WORKERS, GOVERNOR]];
/** Number 1 was never released: there, every worker could read the jobs of all others. */
const FIRST = 2;
const VERSION = FIRST + STEPS.length - 1;

type Migrated = { readonly from: number; readonly to: number };

/** One process at a time: the lock is the connection's, so that it is free again when the process dies. */
export const alone = <T extends object>(database: Database, work: () => Promise<T | Failed>) =>
  database.within(async (client): Promise<T | Failed> => {
    await client.query("SELECT pg_advisory_lock(hashtext($1))", [`skein:${database.schema}`]);
    return work();
  });

/** Makes the schema, or brings an older one up to date. */
export const migrateSchema = (database: Database): Promise<Migrated | Failed> =>
  database.within(async (client) => {
    const sql = (text: string) => inSchema(text, database.schema);
    await client.query(sql("CREATE SCHEMA IF NOT EXISTS $S"));
    await client.query(sql("CREATE TABLE IF NOT EXISTS $S.version (number int NOT NULL)"));
    const { rows } = await client.query<VersionRow>(sql("SELECT number FROM $S.version"));
    const from = rows[0]?.number ?? 0;
    if (from > VERSION) return newer(database.schema, from);
    if (from > 0 && from < FIRST) return unreleased(database.schema);
    for (const [i, step] of STEPS.entries())
      if (FIRST + i > from) await take(client, step.map(sql), sql, FIRST + i);
    return { from, to: VERSION };
  });

type VersionRow = { readonly number: number };

async function take(
  client: Client,
  step: readonly string[],
  sql: (text: string) => string,
  number: number,
): Promise<void> {
  await client.query("BEGIN");
  for (const text of step) await client.query(text);
  await client.query(sql("DELETE FROM $S.version"));
  await client.query(sql("INSERT INTO $S.version VALUES ($1)"), [number]);
  await client.query("COMMIT"); // After a failure the connection is closed, which takes everything back.
}

/** A person waits for this first question: a longer absence is for those who are under way. */
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
