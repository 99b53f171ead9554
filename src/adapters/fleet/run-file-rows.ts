/** Files of a run in Postgres, as coordinators read and write them. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Database } from "./database.ts";

/** Empty if there is no such file. */
export async function readRunFile(
  database: Database,
  runId: string,
  name: string,
): Promise<Uint8Array | Failed> {
  const rows = await database.ask<{ readonly body: Buffer }>(
    "SELECT body FROM $S.file WHERE run = $1 AND path = $2 ORDER BY chunk",
    [runId, name],
  );
  return hasFailed(rows) ? rows : Buffer.concat(rows.map(({ body }) => body));
}

export async function writeRunFile(
  database: Database,
  runId: string,
  name: string,
  bytes: Uint8Array,
): Promise<Failed | undefined> {
  for (let chunk = 0; chunk === 0 || chunk * CHUNK_BYTES < bytes.length; chunk += 1) {
    const body = Buffer.from(bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES));
    const wrote = await database.ask(
      `INSERT INTO $S.file (run, path, chunk, body) VALUES ($1, $2, $3, $4)
       ON CONFLICT (run, path, chunk) DO UPDATE SET body = excluded.body, written_at = now()`,
      [runId, name, chunk, body],
    );
    if (hasFailed(wrote)) return wrote;
  }
  return undefined;
}

const CHUNK_BYTES = 262_144;
