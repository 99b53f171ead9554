/** Measures what the heartbeats of 1,000 workers with one job each cost Postgres in one minute, over 16 connections. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Database } from "../src/adapters/fleet/database.ts";
import { queueOf } from "../src/adapters/job-queues/boss.ts";
import { hasFailed } from "../src/core/result.ts";
import type { TestPostgres } from "../test/support/postgres.ts";

const WORKERS = 1_000;
const CONNECTIONS = 16;
/** The interval of a worker's heartbeats. */
const BEAT_MS = 2_000;
const LASTS_MS = 60_000;

export type HeartbeatFigures = {
  readonly workers: number;
  readonly beatsPerSecond: number;
  /** The use of all Postgres processes, as a share of one core. */
  readonly cores: number;
};

export async function measureHeartbeats(postgres: TestPostgres, url: string): Promise<HeartbeatFigures> {
  await using database = new Database({ url, schema: "skein", maxConnections: CONNECTIONS });
  const permits = await activeJobs(database);
  for (const [n, permit] of permits.entries())
    await database.ask(
      "INSERT INTO $S.worker (name, token, role, labels, capacity, version, state) VALUES ($1, $2, session_user, '{}', 1, '1', 'ready')",
      [`worker-${n}`, permit],
    );
  const begun = performance.now();
  const cpuBefore = cpuSeconds(postgres.pid);
  let beats = 0;
  /** One value serves as both the worker's token and the permit of its job. */
  const live = async (permit: string, n: number) => {
    await pause((n / WORKERS) * BEAT_MS); // Spreads the workers over the interval.
    for (let at = performance.now(); at < begun + LASTS_MS; at = performance.now()) {
      await database.ask("SELECT $S.worker_seen($1, 'ready', $2)", [permit, [permit]]);
      beats += 1;
      await pause(Math.max(0, at + BEAT_MS - performance.now()));
    }
  };
  await Promise.all(permits.map(live));
  const seconds = (performance.now() - begun) / 1_000;
  const cores = (cpuSeconds(postgres.pid) - cpuBefore) / seconds;
  return { workers: WORKERS, beatsPerSecond: beats / seconds, cores };
}

/** Creates running jobs; returns their permits. */
async function activeJobs(database: Database): Promise<readonly string[]> {
  const made = await database.ask<{ readonly permit: string }>(
    `WITH run AS (
       INSERT INTO $S.run (repository, name, key, record, created_at)
       VALUES ('bench', 'heartbeats', gen_random_uuid(), '{}', 0) RETURNING id
     ), boss AS (
       INSERT INTO $J.job (name, data, state, started_on, heartbeat_on)
       SELECT $1, '{}', 'active', now(), now() FROM generate_series(1, $2::int) RETURNING id
     )
     INSERT INTO $S.job (run, job, queue, boss, offer, permit)
     SELECT run.id, boss.id::text, $1, boss.id, '{}', gen_random_uuid() FROM run, boss RETURNING permit`,
    [queueOf([]), WORKERS],
  );
  if (hasFailed(made)) throw new Error(made.failure.message);
  return made.map(({ permit }) => permit);
}

/** The processor seconds of a process and its children, including children that have ended. */
function cpuSeconds(pid: number): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const stats = all.flatMap((name) => {
    try {
      const text = readFileSync(`/proc/${name}/stat`, "utf8");
      const [, parent, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return Number(name) === pid || Number(parent) === pid ? [rest.slice(9, 13).map(Number)] : [];
    } catch {
      return []; // The process has just ended.
    }
  });
  return stats.flat().reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;
}

const TICKS_PER_SECOND = 100;
