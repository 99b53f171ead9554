/** Makes one process the coordinator of a run: the holder of a lease in Postgres, renewed while the process lives. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { failure } from "../../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Owner } from "../../ports/runs.ts";
import { stopProcess } from "../runs/stop-process.ts";
import type { Database } from "./database.ts";
import type { RunId } from "./event-log.ts";
import { lookFor, readHolder, thisHolder } from "./machine.ts";

/**
 * A coordinator that does not renew its lease for this long is dead, and another may take over. It renews five
 * times as often.
 */
const LEASE_MS = 15_000;
const RENEW_MS = LEASE_MS / 5;

type Lease = {
  readonly fence: number;
  /** Resolves, once, if another process has taken the run over. */
  readonly lost: Promise<Failed>;
  readonly release: () => Promise<void>;
};

/** `until` and `left` in ms; `left` by the clock of Postgres. */
type Seen = {
  readonly fence: number;
  readonly owner: string | null;
  readonly until: number | null;
  readonly left: number | null;
};

/**
 * Takes the lease at once if it is free or its holder is known to be dead; else when it has expired, unless it is
 * renewed meanwhile.
 */
export async function takeLease(database: Database, run: RunId): Promise<Lease | Failed> {
  const [token, me] = [randomUUID(), JSON.stringify(await thisHolder())];
  let first: Seen | undefined;
  for (let dead = NOBODYS; ; ) {
    const taken = await database.ask<{ fence: number }>(TAKE, [run.id, token, me, LEASE_MS, dead]);
    if (hasFailed(taken)) return taken;
    const [mine] = taken;
    if (mine) return hold(database, run, { token, fence: mine.fence });
    const seen = await lookAt(database, run);
    if (hasFailed(seen)) return seen;
    const status = await holderStatus(seen);
    first ??= seen;
    if (status === "runs" || seen.fence !== first.fence || (seen.until ?? 0) > (first.until ?? 0))
      return underWay(run, seen, status);
    if (status === "gone") dead = seen.fence;
    else await pause(Math.min(Math.max(seen.left ?? 0, 0) + 10, 1.5 * RENEW_MS));
  }
}

/** A fence number that no lease has. */
const NOBODYS = -1;

/** Idempotent: repeated after a lost answer, it finds its own token. */
const TAKE = `
  UPDATE $S.run SET
    fence = CASE WHEN holder = $2 THEN fence ELSE fence + 1 END,
    holder = $2, owner = $3, lease_until = clock_timestamp() + $4 * interval '1 ms', stop = NULL
  WHERE id = $1 AND (holder IS NULL OR holder = $2 OR lease_until < clock_timestamp() OR fence = $5)
  RETURNING fence`;

async function lookAt(database: Database, { id, name }: RunId): Promise<Seen | Failed> {
  const rows = await database.ask<Seen>(
    `SELECT fence, CASE WHEN holder IS NULL THEN NULL ELSE owner END AS owner,
       (extract(epoch FROM lease_until) * 1000)::float8 AS until,
       (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::float8 AS "left"
     FROM $S.run WHERE id = $1`,
    [id],
  );
  if (hasFailed(rows)) return rows;
  return rows[0] ?? failedWith("log", `run ${name} was removed meanwhile`);
}

async function holderStatus({ owner }: Seen): Promise<"runs" | "gone" | "elsewhere"> {
  const holder = readHolder(owner);
  return holder ? lookFor(holder) : "elsewhere";
}

function underWay(
  { name }: RunId,
  { owner }: Seen,
  status: Awaited<ReturnType<typeof holderStatus>>,
): Failed {
  const holder = readHolder(owner);
  const where = status === "runs" ? "" : ` on ${holder?.host}`;
  const who = holder
    ? `process ${holder.pid}${where}, since ${new Date(holder.since).toISOString()}`
    : "another process";
  return failedWith(
    "repository",
    `run ${name} is already under way: ${who}`,
    `wait until it ends, or end it with \`skein stop ${name}\``,
  );
}

/** The process that holds the lease now; undefined if none does. */
export async function leaseOwner(database: Database, run: RunId): Promise<Owner | undefined | Failed> {
  const seen = await lookAt(database, run);
  if (hasFailed(seen)) return seen;
  const holder = readHolder(seen.owner);
  if (!holder || (seen.left ?? 0) <= 0) return undefined;
  const { pid, since, host } = holder;
  const status = await lookFor(holder);
  if (status === "gone") return undefined;
  return status === "runs" ? { pid, since } : { pid, since, host };
}

/** Asks the coordinator to stop. It notices within moments, and acts as if Ctrl-C had been pressed there. */
export async function askToStop(
  database: Database,
  { id }: RunId,
  isUrgent: boolean,
): Promise<Failed | undefined> {
  const asked = await database.ask(
    `WITH asked AS (UPDATE $S.run SET stop = $2 WHERE id = $1 AND holder IS NOT NULL RETURNING id)
     SELECT pg_notify('$N:lease:' || id, '') FROM asked`,
    [id, isUrgent ? "now" : "gently"],
  );
  return hasFailed(asked) ? asked : undefined;
}

function hold(
  database: Database,
  run: RunId,
  { token, fence }: { readonly token: string; readonly fence: number },
): Lease {
  const lost = Promise.withResolvers<Failed>();
  const over = new AbortController();
  const renewing = renew(database, run, token, over.signal).then((failed) => {
    if (failed) lost.resolve(failed);
  });
  const release = async () => {
    if (over.signal.aborted) return;
    over.abort();
    await renewing;
    await database.ask(
      "UPDATE $S.run SET holder = NULL, lease_until = NULL, stop = NULL WHERE id = $1 AND holder = $2",
      [run.id, token],
    );
  };
  return { fence, lost: lost.promise, release };
}

type Renewed = { readonly stop: "gently" | "now" | null };

/** Renews until `signal`, or until another process has the lease. While Postgres is away, no process can take it. */
async function renew(
  database: Database,
  { id, name }: RunId,
  token: string,
  signal: AbortSignal,
): Promise<Failed | undefined> {
  using nudges = database.nudges(`lease:${id}`);
  for (; !signal.aborted; await nudges.next(signal, RENEW_MS)) {
    const rows = await database.ask<Renewed>(RENEW, [id, token, LEASE_MS], { patienceMs: RENEW_MS, signal });
    if (hasFailed(rows)) continue;
    const [renewed] = rows;
    if (!renewed)
      return {
        failure: failure(
          "repository",
          `another coordinator has taken over run ${name}`,
          `skein logs ${name} -f`,
        ),
      };
    if (renewed.stop) stopProcess(process, renewed.stop === "now");
  }
  return undefined;
}

/** Renews the lease, and returns a request to stop once. */
const RENEW = `
  WITH held AS (SELECT id, stop FROM $S.run WHERE id = $1 AND holder = $2 FOR NO KEY UPDATE),
  renewed AS (
    UPDATE $S.run SET lease_until = clock_timestamp() + $3 * interval '1 ms', stop = NULL
    FROM held WHERE $S.run.id = held.id RETURNING held.stop)
  SELECT stop FROM renewed`;
