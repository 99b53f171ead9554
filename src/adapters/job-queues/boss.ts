/** Sets up pg-boss for the jobs of a fleet: one queue for each set of labels, in a schema beside the fleet's own. */
import { createHash } from "node:crypto";
import type { ConstructorOptions, Db, PgBoss } from "pg-boss";
import type { Failed } from "../../core/result.ts";
import { bossSchema, type Database, inSchema, ownNamesOnly } from "../fleet/database.ts";

/** Seconds without a heartbeat before a machine counts as dead: the shortest time that pg-boss allows. */
const HEARTBEAT_S = 10;
/** How often a job whose machine died is given to another. */
const RETRIES = 3;
/** How long ended jobs are kept: their results are needed until the run is over. */
const KEEP_S = 30 * 24 * 3_600;
/** The engine has its own, shorter limits; past this one a job is taken to be lost. */
const MAX_JOB_S = 24 * 3_600 - 1;

/** "jobs", "jobs/gpu/linux": `worker_take` reads the labels from the name. */
export const queueOf = (labels: readonly string[]): string => ["jobs", ...[...labels].sort()].join("/");

/** The channel that notifies workers of waiting jobs. */
export const JOBS_CHANNEL = "jobs";
/** The channel that notifies the coordinator of a run when a job of it has ended. */
export const jobsOfRun = (runId: string): string => `jobs:${runId}`;

/** The same job of the same run has the same id, so that a second offer has no effect. */
export function bossId(runId: string, job: string): string {
  const hex = createHash("sha256").update(`${runId}/${job}`).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/**
 * pg-boss for coordinators, over the fleet's own connections. Statements are not retried: one that waited for
 * Postgres to come back would end the jobs of machines that could not send heartbeats meanwhile.
 */
export const coordinatorsBoss = (database: Database): Promise<PgBoss> =>
  start({ db: asDb(database), schema: bossSchema(database.schema), migrate: false, createSchema: false });

const asDb = (database: Database): Db => ({
  executeSql: (text, values) => database.query(text, values),
});

/** No supervision by pg-boss itself: `superviseJobs` does it. */
const QUIET = {
  ...{ supervise: false, schedule: false, monitorIntervalSeconds: 1 },
  ...{ persistWarnings: false, persistQueueStats: false, reindex: false },
} as const;

async function start(options: ConstructorOptions): Promise<PgBoss> {
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ ...QUIET, ...options });
  boss.on("error", () => {}); // Postgres is away: the next query fails and says so.
  boss.on("warning", () => {}); // About slow queries and long queues.
  await boss.start();
  return boss;
}

/** Throws, as pg-boss does. */
export async function makeQueue(boss: PgBoss, database: Database, queue: string): Promise<void> {
  const options = { partition: true, heartbeatSeconds: HEARTBEAT_S, retryLimit: RETRIES, retryDelay: 0 };
  const keep = { retentionSeconds: KEEP_S, deleteAfterSeconds: KEEP_S, expireInSeconds: MAX_JOB_S };
  if (!(await boss.getQueue(queue))) await boss.createQueue(queue, { ...options, ...keep });
  const { table } = (await boss.getQueue(queue))!;
  const query = (text: string) => database.query(inSchema(text, database.schema));
  const there = await query(
    `SELECT 1 FROM pg_trigger WHERE tgname = 'skein_ended' AND tgrelid = '$J."${table}"'::regclass`,
  );
  if (there.rows.length === 0)
    await query(`CREATE OR REPLACE TRIGGER skein_ended AFTER INSERT OR UPDATE ON $J."${table}"
      FOR EACH ROW WHEN (NEW.state > 'active') EXECUTE FUNCTION $S.job_ended()`);
}

/** Run by `skein fleet init`: makes the tables of pg-boss, and the queue of jobs that need no label. */
export async function migrateJobs(database: Database, url: string): Promise<Failed | undefined> {
  const schema = bossSchema(database.schema);
  try {
    const boss = await start({ ...{ connectionString: url, schema, max: 1, onConnect: ownNamesOnly } });
    try {
      await makeQueue(boss, database, queueOf([]));
    } finally {
      await boss.stop({ graceful: false, close: true });
    }
    return undefined;
  } catch (error) {
    return database.failed(error);
  }
}
