/** Ends sessions of workers that keep a transaction open, or that a coordinator has waited for, for more than 5 s. */
import { setTimeout as pause } from "node:timers/promises";
import { hasFailed } from "../../core/result.ts";
import { type Database, STATEMENT_MS, sessionName } from "./database.ts";
import { workersRole } from "./workers.ts";

/** `machine`: which one it was invited as; with the role that all share, what the session calls itself, and from where. */
type EndedSession = { readonly machine: string; readonly heldMs: number };

/** A worker's own transactions are single statements, which take milliseconds. */
const MAX_HELD_MS = 5_000;
/** Longer than a worker's own statement is let, with all that it waits for. */
const MAX_WAITING_MS = STATEMENT_MS + 1_000;
const LOOK_MS = 1_000;
const MAX_TOLD_A_MINUTE = 10;

/** Until `signal`. `onEnded` hears of each that this process has ended, as long as these are few. */
export async function endBlockingSessions(
  database: Database,
  onEnded: (ended: EndedSession) => void,
  signal: AbortSignal,
): Promise<void> {
  await using own = database.beside(); // Statements that wait may have all connections of the other.
  const shared = workersRole(database.schema);
  let [minute, told] = [Number.NEGATIVE_INFINITY, 0];
  while (!signal.aborted) {
    const rows = await own.ask<Row>(END, [shared, MAX_HELD_MS, MAX_WAITING_MS], { patienceMs: 0, signal });
    if (performance.now() - minute > 60_000) [minute, told] = [performance.now(), 0];
    for (const { name, session, address, heldMs } of hasFailed(rows) ? [] : rows)
      if (++told <= MAX_TOLD_A_MINUTE)
        onEnded({ machine: name ?? `${ownName(session)} at ${address ?? "this machine"}`, heldMs });
    await pause(LOOK_MS, undefined, { signal }).catch(() => {}); // The loop looks at the signal.
  }
}

/** While `work` goes on: for single commands of a person, when no coordinator may be there. */
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
 * One that itself waits for a lock is not the cause: it goes on when that is gone. But not without end: sessions of one
 * machine would wait for each other in turn. Before a coordinator none stays in the queue: a worker asks again. And
 * workers need no advisory lock: one session would wait for another one's, which is in no transaction, for as long as it
 * likes.
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
