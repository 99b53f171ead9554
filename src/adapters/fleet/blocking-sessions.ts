/** Ends workers' sessions that hold a transaction open, or that the coordinator waits for, for more than 5 s. */
import { setTimeout as pause } from "node:timers/promises";
import { hasFailed } from "../../core/result.ts";
import { type Database, STATEMENT_MS, sessionName } from "./database.ts";
import { workersRole } from "./workers.ts";

/**
 * `machine`: the name that it was invited by; for the shared role, the name that the session gives itself, and its
 * address.
 */
type EndedSession = { readonly machine: string; readonly heldMs: number };

/** A worker's own transactions are single statements, which take milliseconds. */
const MAX_HELD_MS = 5_000;
/** Longer than the limit of a worker's own statement, including its waits for locks. */
const MAX_WAITING_MS = STATEMENT_MS + 1_000;
const LOOK_MS = 1_000;
const MAX_TOLD_A_MINUTE = 10;

/** Runs until `signal`. `onEnded` is called for each session that this process ended, up to a limit a minute. */
export async function endBlockingSessions(
  database: Database,
  onEnded: (ended: EndedSession) => void,
  signal: AbortSignal,
): Promise<void> {
  await using own = database.beside(); // Waiting statements may use up all connections of the other pool.
  const shared = workersRole(database.schema);
  let [minute, told] = [Number.NEGATIVE_INFINITY, 0];
  while (!signal.aborted) {
    const rows = await own.ask<Row>(END, [shared, MAX_HELD_MS, MAX_WAITING_MS], { patienceMs: 0, signal });
    if (performance.now() - minute > 60_000) [minute, told] = [performance.now(), 0];
    for (const { name, session, address, heldMs } of hasFailed(rows) ? [] : rows)
      if (++told <= MAX_TOLD_A_MINUTE)
        onEnded({ machine: name ?? `${ownName(session)} at ${address ?? "this machine"}`, heldMs });
    await pause(LOOK_MS, undefined, { signal }).catch(() => {}); // The loop checks the signal.
  }
}

/** Ends blocking sessions while `work` runs: for single commands of a person, when there may be no coordinator. */
export async function withoutBlockers<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const looking = endBlockingSessions(database, () => {}, over.signal);
  try {
    return await work();
  } finally {
    over.abort();
    await looking;
  }
}

const ownName = (session: string | null): string => {
  const prefix = sessionName("");
  return session?.startsWith(prefix) ? session.slice(prefix.length) : "a worker";
};

type Row = {
  readonly name: string | null;
  readonly session: string | null;
  readonly address: string | null;
  readonly heldMs: number;
};

/**
 * A session that itself waits for a lock is not the cause: it goes on when the lock is free. Two limits apply to
 * that: sessions of one machine could wait for each other in turn without end; and none may stay queued before a
 * coordinator, because a worker can ask again. Workers need no advisory lock: a session could wait for another
 * one's, which is in no transaction, without end.
 */
const END = `
  WITH awaited AS MATERIALIZED (
    SELECT unnest(pg_blocking_pids(l.pid)) AS pid, clock_timestamp() - l.waitstart AS held
    FROM pg_locks l JOIN pg_stat_activity w ON w.pid = l.pid
    WHERE NOT l.granted AND l.waitstart < clock_timestamp() - $2 * interval '1 ms'
      AND w.usename = current_user AND w.datname = current_database()
  ), guilty AS MATERIALIZED (
    SELECT a.pid, m.name, a.application_name, a.client_addr,
      greatest(clock_timestamp() - a.xact_start, (SELECT max(held) FROM awaited WHERE awaited.pid = a.pid)) AS held
    FROM pg_stat_activity a LEFT JOIN $S.machine m ON m.role = a.usename AND m.name <> ''
    WHERE a.datname = current_database() AND a.usename <> current_user
      AND (a.usename = $1 OR m.role IS NOT NULL)
      AND (a.pid IN (SELECT pid FROM awaited) OR a.xact_start < clock_timestamp() - $3 * interval '1 ms'
        OR (a.xact_start < clock_timestamp() - $2 * interval '1 ms'
          AND (a.wait_event_type IS DISTINCT FROM 'Lock' OR a.wait_event = 'advisory')))
  )
  SELECT name, application_name AS session, host(client_addr) AS address,
    (extract(epoch FROM held) * 1000)::float8 AS "heldMs"
  FROM guilty WHERE pg_terminate_backend(pid)`;
