/** How does pg-boss hold the jobs of a fleet? One queue for each set of labels, in a schema beside the fleet's own. */
import { createHash } from "node:crypto";
import type { ConstructorOptions, Db, PgBoss } from "pg-boss";
import { type Failed, hasFailed } from "../../core/result.ts";
import { type Database, ownNamesOnly } from "../fleet/database.ts";
import { workersRole } from "../fleet/workers.ts";

/** Before a machine counts as dead, in s: the shortest that pg-boss allows. */
const HEARTBEAT_S = 10;
/** How often a job whose machine died is given to another. */
const RETRIES = 3;
/** What became of a job is needed until its run is over. */
const KEEP_S = 30 * 24 * 3_600;

export const bossSchema = (schema: string): string => `${schema}_jobs`;

/** "jobs", "jobs/gpu/linux". */
export const queueOf = (labels: readonly string[]): string => [QUEUES, ...[...labels].sort()].join("/");

/** The labels of a queue; undefined if it is none of ours. */
export function labelsOf(queue: string): readonly string[] | undefined {
  const [first, ...labels] = queue.split("/");
  return first === QUEUES ? labels : undefined;
}

const QUEUES = "jobs";

export const JOBS_CHANNEL = "jobs";
export const answersChannel = (runId: string): string => `answer:${runId}`;

/** The same job of the same run has the same id: a second offer is none. */
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

/** Through the fleet's own connections. What fails is thrown, as pg-boss expects it. */
export const asDb = (database: Pick<Database, "ask">, patienceMs?: number): Db => ({
  async executeSql(text, values) {
    const rows = await database.ask(text, values, patienceMs === undefined ? {} : { patienceMs });
    if (hasFailed(rows)) throw new Error(rows.failure.message);
    return { rows: [...rows] };
  },
});

const QUIET = { schedule: false, persistWarnings: false, persistQueueStats: false, reindex: false } as const;

/** For workers: nothing is supervised or migrated, and no connection is opened besides the fleet's. */
export const workersBoss = (database: Database): Promise<PgBoss> =>
  start({
    ...{ ...QUIET, db: asDb(database), schema: bossSchema(database.schema) },
    ...{ supervise: false, migrate: false, createSchema: false },
  });

/** For coordinators: gives jobs of dead machines to others. `url`: with one connection of its own. */
export const coordinatorsBoss = (url: string, schema: string): Promise<PgBoss> =>
  start({
    ...{ ...QUIET, connectionString: url, schema: bossSchema(schema), max: 1, onConnect: ownNamesOnly },
    ...{ superviseIntervalSeconds: 1, monitorIntervalSeconds: 1, application_name: "skein" },
  });

async function start(options: ConstructorOptions): Promise<PgBoss> {
  const { PgBoss } = await import("pg-boss");
  const boss = new PgBoss(options);
  boss.on("error", () => {}); // Postgres is away: the next query fails and says so.
  boss.on("warning", () => {}); // Of slow queries and long queues.
  await boss.start();
  return boss;
}

/** The fleet's workers may take and complete jobs of it, and nothing else. */
export async function makeQueue(boss: PgBoss, database: Database, queue: string): Promise<void> {
  const options = { partition: true, heartbeatSeconds: HEARTBEAT_S, retryLimit: RETRIES, retryDelay: 0 };
  const keep = { retentionSeconds: KEEP_S, deleteAfterSeconds: KEEP_S, expireInSeconds: MAX_JOB_S };
  if (!(await boss.getQueue(queue))) await boss.createQueue(queue, { ...options, ...keep });
  const { table } = (await boss.getQueue(queue))!;
  const ask = async (text: string, values: readonly unknown[] = []) => {
    const rows = await database.ask(text, values);
    if (hasFailed(rows)) throw new Error(rows.failure.message);
    return rows;
  };
  for (const statement of tellingOf(database.schema, table)) await ask(statement);
  const role = workersRole(database.schema);
  if ((await ask("SELECT 1 FROM pg_roles WHERE rolname = $1", [role])).length === 0) return;
  for (const grant of grantsOf(bossSchema(database.schema), table, role)) await ask(grant);
}

/** Whoever waits for a job hears of its end with the transaction that ends it: no statement more for each. */
const tellingOf = (schema: string, table: string): readonly string[] => {
  const boss = bossSchema(schema);
  return [
    `CREATE OR REPLACE FUNCTION "${boss}".skein_ended() RETURNS trigger LANGUAGE plpgsql
     SET search_path = pg_catalog, pg_temp AS $$
     BEGIN PERFORM pg_notify('${schema}:${answersChannel("")}' || (NEW.data->>'runId'), ''); RETURN NULL; END $$`,
    `CREATE OR REPLACE TRIGGER skein_ended AFTER INSERT OR UPDATE ON "${boss}"."${table}"
     FOR EACH ROW WHEN (NEW.state > 'active') EXECUTE FUNCTION "${boss}".skein_ended()`,
  ];
};

/** At `skein fleet init`: the tables of pg-boss, and the queue of jobs that need no label. */
export async function migrateJobs(database: Database, url: string): Promise<Failed | undefined> {
  try {
    const boss = await coordinatorsBoss(url, database.schema);
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

/** The engine has its own, shorter limits; past this one a job is taken to be lost. */
const MAX_JOB_S = 24 * 3_600 - 1;

const grantsOf = (schema: string, table: string, role: string): readonly string[] => [
  `GRANT USAGE ON SCHEMA "${schema}" TO "${role}"`,
  `GRANT SELECT ON "${schema}".version, "${schema}".queue, "${schema}"."${table}" TO "${role}"`,
  `GRANT EXECUTE ON FUNCTION "${schema}".job_now() TO "${role}"`,
  `GRANT UPDATE (${WRITABLE.join(", ")}) ON "${schema}"."${table}" TO "${role}"`,
  // What a job was told and what it answered is seen only until it has ended.
  `ALTER TABLE "${schema}"."${table}" ENABLE ROW LEVEL SECURITY`,
  `DO $$ BEGIN
     CREATE POLICY skein_open ON "${schema}"."${table}" TO "${role}"
       USING (state < 'completed' OR completed_on > now() - interval '10 seconds');
   EXCEPTION WHEN duplicate_object THEN NULL;
   END $$`,
];

const WRITABLE = [
  ...["state", "started_on", "retry_count", "heartbeat_on", "completed_on", "output"],
  ...["blocked", "pending_dependencies"],
];
