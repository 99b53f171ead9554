/** Which workers has the fleet, and is each still there? */
import type { Failed } from "../../core/result.ts";
import type { Database } from "./database.ts";

export type FleetWorker = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly capacity: number;
  readonly version: string;
  /** What it is doing, as run/job. */
  readonly jobs: readonly string[];
  readonly state: "ready" | "draining" | "gone";
  /** How long ago it was heard of, by the clock of Postgres. */
  readonly silentMs: number;
};

/** Those that were heard of within a day, by name. */
export const listWorkers = (database: Database): Promise<readonly FleetWorker[] | Failed> =>
  database.ask<FleetWorker>(`
    SELECT name, labels, capacity, version, jobs, state,
      greatest(0, extract(epoch FROM now() - seen_at) * 1000)::float8 AS "silentMs"
    FROM $S.worker WHERE seen_at > now() - interval '1 day' ORDER BY name`);
