/** Invites a machine by a database role of its own that expires, and revokes a machine's role or the shared role. */
import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import { type Database, inSchema } from "./database.ts";
import { fenceRole, MACHINE_CONNECTIONS } from "./role-fences.ts";
import { workersRole } from "./workers.ts";
import { addressFor, grantsFor, verifierOf } from "./workers-role.ts";

/** `address`: the value of SKEIN_FLEET_URL on that machine; it is shown once, and stored nowhere. */
type Invited = {
  readonly machine: string;
  readonly role: string;
  readonly address: string;
  readonly expiresAt: string;
};

/** `url`: the owner's address. `name`: a valid machine name, so it is safe within quotes. */
export async function inviteMachine(
  database: Database,
  { url, name, expiresMs }: { readonly url: string; readonly name: string; readonly expiresMs: number },
): Promise<Invited | Failed> {
  const known = await roleOf(database, name);
  if (hasFailed(known)) return known;
  if (known[0]?.isValid)
    return failedWith(
      "repository",
      `${name} is invited already`,
      `skein fleet revoke ${name}, then invite it again`,
    );
  for (const { role } of known) await shutOut(database, role);
  const readable = `${workersRole(database.schema)}_${name}`.slice(0, MAX_ROLE_CHARS);
  // Roles are shared by all databases of the server, so a random part keeps them apart.
  const role = `${readable}_${randomBytes(4).toString("hex")}`;
  const password = randomBytes(24).toString("base64url");
  const expiresAt = new Date(Date.now() + expiresMs).toISOString();
  const made = await database.within(async (client) => {
    await client.query("BEGIN");
    await client.query(
      `CREATE ROLE "${role}" LOGIN PASSWORD '${verifierOf(password, randomBytes(16))}' ` +
        `VALID UNTIL '${expiresAt}' CONNECTION LIMIT ${MACHINE_CONNECTIONS}`,
    );
    for (const grant of grantsFor(role)) await client.query(inSchema(grant, database.schema));
    await joinRole(client, role);
    const insert = "INSERT INTO $S.machine (role, name, expires_at) VALUES ($1, $2, $3)";
    await client.query(inSchema(insert, database.schema), [role, name, expiresAt]);
    // A worker of the shared role that has this name keeps its jobs, and gets no new ones.
    const free = "UPDATE $S.worker SET state = 'gone', token = NULL WHERE name = $1";
    await client.query(inSchema(free, database.schema), [name]);
    return client.query("COMMIT");
  });
  if (hasFailed(made)) return made;
  await fenceRole(database, role);
  return { machine: name, role, address: addressFor(url, role, password), expiresAt };
}

/** Postgres allows 63 characters, and the random part needs the rest. */
const MAX_ROLE_CHARS = 54;

/** Joins the role, because its members may end its sessions. A superuser needs no grant. */
async function joinRole(client: Client, role: string): Promise<void> {
  const { rows } = await client.query("SELECT pg_has_role(current_user, $1, 'USAGE') AS has", [role]);
  if (!rows[0].has) await client.query(`GRANT "${role}" TO CURRENT_USER`);
}

/** Revokes a machine: its sessions end, its address is useless from then on, and its jobs go to others. */
export async function revokeMachine(
  database: Database,
  name: string,
): Promise<{ readonly sessions: number } | Failed> {
  const known = await roleOf(database, name);
  if (hasFailed(known)) return known;
  if (known.length === 0)
    return failedWith("repository", `no machine ${name} was invited`, "skein fleet lists those that were");
  let sessions = 0;
  for (const { role } of known) {
    const ended = await shutOut(database, role);
    if (hasFailed(ended)) return ended;
    sessions += ended.sessions;
  }
  return { sessions };
}

/** Revokes the role that machines share. It stays, so that `skein fleet init` with a password may allow it again. */
export async function revokeShared(database: Database): Promise<{ readonly sessions: number } | Failed> {
  const role = workersRole(database.schema);
  const noted = await database.ask(
    `INSERT INTO $S.machine (role, name, expires_at, revoked_at) VALUES ($1, '', now(), now())
     ON CONFLICT (role) DO UPDATE SET revoked_at = now()`,
    [role],
  );
  return hasFailed(noted) ? noted : endSessions(database, role);
}

const roleOf = (database: Database, name: string) =>
  database.ask<{ readonly role: string; readonly isValid: boolean }>(
    `SELECT role, revoked_at IS NULL AND expires_at > now() AS "isValid" FROM $S.machine WHERE name = $1`,
    [name],
  );

/** Revokes a role. It is dropped last, so that a session that was just being opened finds that it is revoked. */
async function shutOut(database: Database, role: string): Promise<{ readonly sessions: number } | Failed> {
  const noted = await database.ask("UPDATE $S.machine SET revoked_at = now() WHERE role = $1", [role]);
  if (hasFailed(noted)) return noted;
  const ended = await endSessions(database, role);
  if (hasFailed(ended)) return ended;
  const dropped = await database.within(async (client) => {
    const { rows } = await client.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [role]);
    if (rows.length > 0) await client.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
    return rows;
  });
  // If dropping failed, the role stays without a right to log in, and its row says that it is revoked.
  if (!hasFailed(dropped)) await database.ask("DELETE FROM $S.machine WHERE role = $1", [role]);
  return ended;
}

async function endSessions(
  database: Database,
  role: string,
): Promise<{ readonly sessions: number } | Failed> {
  return database.within(async (client) => {
    const ask = (text: string) => client.query(inSchema(text, database.schema), [role]);
    const { rows } = await client.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [role]);
    if (rows.length > 0) await client.query(`ALTER ROLE "${role}" NOLOGIN`);
    const ended = await ask(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1",
    );
    // Expires the jobs' heartbeats, so that they are offered again at once.
    await ask(
      `UPDATE $J.job AS boss SET heartbeat_on = now() - interval '1 hour' FROM $S.job AS job, $S.worker AS worker
       WHERE worker.role = $1 AND job.worker = worker.name AND boss.name = job.queue AND boss.id = job.boss
         AND boss.state = 'active'`,
    );
    await ask(
      "WITH gone AS (UPDATE $S.worker SET state = 'gone' WHERE role = $1) SELECT pg_notify('$N:workers', '') WHERE $1 <> ''",
    );
    return { sessions: ended.rowCount ?? 0 };
  });
}
