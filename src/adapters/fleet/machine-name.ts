/** Finds the name of this machine: the one given, else the one that it was invited by, else its host name. */
import os from "node:os";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Environment } from "../../ports/project.ts";
import { openDatabase } from "./open-database.ts";
import { schemaProblem } from "./schema.ts";

export async function machineName(
  { name, schema }: { readonly name?: string; readonly schema: string },
  env: Environment,
): Promise<{ readonly name: string } | Failed> {
  const database = openDatabase(env, { schema });
  if (hasFailed(database)) return database;
  await using _ = database;
  const problem = await schemaProblem(database);
  if (problem) return problem;
  const rows = await database.ask<{ readonly name: string | null }>("SELECT $S.machine_name() AS name");
  if (hasFailed(rows)) return rows;
  return { name: name ?? rows[0]?.name ?? os.hostname().replace(/[^\w.-]/g, "-") };
}
