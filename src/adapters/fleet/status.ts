/** How does a fleet stand? Its workers, the jobs that wait and that are under way, and the accounts that are refused. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Database } from "./database.ts";
import { type FleetWorker, listWorkers } from "./workers.ts";

type FleetStatus = {
  readonly workers: readonly FleetWorker[];
  readonly queues: readonly FleetQueue[];
  readonly accounts: readonly FleetAccount[];
};

/** Its jobs go to workers with the labels in its name. */
type FleetQueue = { readonly name: string; readonly waiting: number; readonly active: number };

/** `untilMs`: how long it is rate limited; null if its key was refused, which only a person can change. */
type FleetAccount = { readonly name: string; readonly untilMs: number | null };

export async function lookAtFleet(database: Database): Promise<FleetStatus | Failed> {
  const workers = await listWorkers(database);
  if (hasFailed(workers)) return workers;
  const queues = await database.ask<FleetQueue>(
    `SELECT name, count(*) FILTER (WHERE state < 'active')::int AS waiting,
       count(*) FILTER (WHERE state = 'active')::int AS active
     FROM $J.job WHERE state < 'completed' GROUP BY name ORDER BY name`,
  );
  if (hasFailed(queues)) return queues;
  const accounts = await database.ask<FleetAccount>(
    `SELECT name, (extract(epoch FROM until - clock_timestamp()) * 1000)::float8 AS "untilMs" FROM $S.account
     WHERE state = 'refused' OR (state = 'parked' AND until > clock_timestamp()) ORDER BY name`,
  );
  return hasFailed(accounts) ? accounts : { workers, queues, accounts };
}
