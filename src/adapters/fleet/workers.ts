/** Lists the fleet's workers, and tells which of them still give heartbeats. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Database } from "./database.ts";

export type FleetWorker = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly capacity: number;
  readonly version: string;
  /** The jobs that it runs, as run/job. */
  readonly jobs: readonly string[];
  readonly state: "ready" | "draining" | "gone";
  /** Time since its last heartbeat, by the clock of Postgres. */
  readonly silentMs: number;
};

/** The heartbeat interval of a worker: well below the time after which it counts as dead. */
export const BEAT_MS = 2_000;

/** Workers with a heartbeat within a day, and those that left within an hour, by name. */
export const listWorkers = (database: Database): Promise<readonly FleetWorker[] | Failed> =>
  database.ask<FleetWorker>(`
    SELECT name, labels, capacity, version, state,
      ARRAY(SELECT run.name || '/' || job.job FROM $S.job AS job JOIN $S.run AS run ON run.id = job.run
        JOIN $J.job AS boss ON boss.name = job.queue AND boss.id = job.boss AND boss.state = 'active'
        WHERE job.worker = worker.name ORDER BY 1) AS jobs,
      greatest(0, extract(epoch FROM now() - seen_at) * 1000)::float8 AS "silentMs"
    FROM $S.worker WHERE seen_at > now() - CASE state WHEN 'gone' THEN interval '1 hour' ELSE interval '1 day' END
    ORDER BY name`);

/** The database role that workers connect as. */
export const workersRole = (schema: string): string => `${schema}_worker`;

/** A worker without a heartbeat for this long loses its jobs to others. */
export const SILENT_MS = 10_000;

/** A warning for the start of a run that no machine would work on. */
export async function withoutWorkers(database: Database): Promise<string | undefined> {
  const workers = await listWorkers(database);
  if (hasFailed(workers)) return undefined;
  const isThere = workers.some(({ state, silentMs }) => state === "ready" && silentMs < SILENT_MS);
  return isThere
    ? undefined
    : "no worker has joined the fleet: jobs wait until one does (skein worker --join)";
}
