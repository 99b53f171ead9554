/** Reads and writes files of a run in Postgres, for coordinators. */
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

/** Writes all chunks or none, because a part of a file would count as whole. */
export async function writeRunFile(
  database: Database,
  runId: string,
  name: string,
  bytes: Uint8Array,
): Promise<Failed | undefined> {
  const count = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  const chunks = Array.from({ length: count }, (_, i) =>
    Buffer.from(bytes.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES)),
  );
  const wrote = await database.ask(
    `WITH longer AS (DELETE FROM $S.file WHERE run = $1 AND path = $2 AND chunk >= cardinality($3::bytea[]))
     INSERT INTO $S.file (run, path, chunk, body)
     SELECT $1, $2, one.number - 1, one.body FROM unnest($3::bytea[]) WITH ORDINALITY AS one (body, number)
     ON CONFLICT (run, path, chunk) DO UPDATE SET body = excluded.body, written_at = now()`,
    [runId, name, chunks],
  );
  return hasFailed(wrote) ? wrote : undefined;
}

const CHUNK_BYTES = 262_144;
