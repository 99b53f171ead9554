/** Reads a fleet's status: its workers, the jobs that wait and that run, and the accounts that are refused. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Database } from "./database.ts";
import { type FleetWorker, listWorkers } from "./workers.ts";

type FleetStatus = {
  readonly workers: readonly FleetWorker[];
  readonly queues: readonly FleetQueue[];
  readonly accounts: readonly FleetAccount[];
  readonly invited: readonly InvitedMachine[];
};

/** `expiresMs`: how long until it expires; negative if it has expired. */
type InvitedMachine = { readonly name: string; readonly expiresMs: number };

/** A queue of jobs for workers that have the labels in its name. */
type FleetQueue = { readonly name: string; readonly waiting: number; readonly active: number };

/**
 * `run`: the run that the refusal is for; null means all. `untilMs`: how long it is rate limited; null if its key
 * was refused.
 */
type FleetAccount = { readonly name: string; readonly run: string | null; readonly untilMs: number | null };

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
    `SELECT a.name, run.name AS run,
       CASE a.state WHEN 'parked' THEN (extract(epoch FROM a.until - clock_timestamp()) * 1000)::float8 END AS "untilMs"
     FROM $S.account AS a LEFT JOIN $S.run AS run ON run.id = a.run
     WHERE a.state <> 'woken' AND coalesce(a.until > clock_timestamp(), true) ORDER BY a.name, run.name NULLS FIRST`,
  );
  if (hasFailed(accounts)) return accounts;
  const invited = await database.ask<InvitedMachine>(
    `SELECT name, (extract(epoch FROM expires_at - now()) * 1000)::float8 AS "expiresMs" FROM $S.machine
     WHERE revoked_at IS NULL ORDER BY name`,
  );
  return hasFailed(invited) ? invited : { workers, queues, accounts, invited };
}
