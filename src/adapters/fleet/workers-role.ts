/** Makes the database role that workers share: it may do their work, and read nothing else. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Environment } from "../../ports/project.ts";
import type { Database } from "./database.ts";
import { fenceRole } from "./role-fences.ts";
import { workersRole } from "./workers.ts";

/**
 * `address`: the value of SKEIN_FLEET_URL on workers, if the password was made here: it is shown once, and stored
 * nowhere.
 */
type WorkersRole = {
  readonly role: string;
  readonly password: "made" | "given" | "changed" | "kept" | "revoked";
  readonly address?: string;
};

/** The minimum length of a password that a person chose. */
const MIN_PASSWORD_CHARS = 12;

/** Makes the role once. Its password is only changed to one that SKEIN_FLEET_WORKER_PASSWORD gives. */
export async function makeWorkersRole(
  database: Database,
  env: Environment,
  salt = randomBytes(16),
): Promise<WorkersRole | Failed> {
  const { SKEIN_FLEET_URL: url = "", SKEIN_FLEET_WORKER_PASSWORD: given } = env;
  const role = workersRole(database.schema);
  if (given !== undefined && given.length < MIN_PASSWORD_CHARS)
    return failedWith(
      "repository",
      `SKEIN_FLEET_WORKER_PASSWORD is too short: a password has at least ${MIN_PASSWORD_CHARS} characters`,
      "give a longer one, such as that of: openssl rand -hex 24; or leave it out, and one is made",
    );
  const open = await openToWorkers(database, role);
  if (open) return open;
  const found = await database.ask("SELECT 1 FROM pg_roles WHERE rolname = $1", [role]);
  if (hasFailed(found)) return found;
  const isNew = found.length === 0;
  const password = given ?? (isNew ? randomBytes(24).toString("base64url") : undefined);
  if (password !== undefined) {
    const verb = isNew ? "CREATE" : "ALTER";
    // A verifier instead of the password, because statements may be logged. Not by `ask`: a verifier may contain
    // `$S`.
    const statement = `${verb} ROLE "${role}" LOGIN PASSWORD '${verifierOf(password, salt)}'`;
    const made = await database.within((client) => client.query(statement));
    if (hasFailed(made)) return made;
  }
  const roles = await database.ask<{ readonly role: string }>(
    "SELECT role FROM $S.machine WHERE revoked_at IS NULL AND role <> $1",
    [role],
  );
  if (hasFailed(roles)) return roles;
  for (const one of [role, ...roles.map((row) => row.role)]) {
    for (const grant of grantsFor(one)) {
      const granted = await database.ask(grant);
      if (hasFailed(granted)) return granted;
    }
    await fenceRole(database, one);
  }
  if (password === undefined) {
    const revoked = await database.ask("SELECT 1 FROM $S.machine WHERE role = $1", [role]);
    return hasFailed(revoked) ? revoked : { role, password: revoked.length > 0 ? "revoked" : "kept" };
  }
  const allowed = await database.ask("DELETE FROM $S.machine WHERE role = $1", [role]);
  if (hasFailed(allowed)) return allowed;
  if (given !== undefined) return { role, password: isNew ? "given" : "changed" };
  return { role, password: "made", address: addressFor(url, role, password) };
}

/**
 * By default every role may call a new function. The functions listed check a permit, or concern only the calling
 * worker.
 */
export const grantsFor = (role: string): readonly string[] =>
  GRANTS.map((grant) => grant.replaceAll("$R", `"${role}"`));

const GRANTS = [
  "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA $S FROM PUBLIC",
  "GRANT USAGE ON SCHEMA $S TO $R",
  "GRANT SELECT ON $S.version TO $R",
  `GRANT EXECUTE ON FUNCTION $S.machine_name, $S.worker_join, $S.worker_seen, $S.worker_take, $S.worker_answer,
    $S.worker_report, $S.worker_write, $S.worker_read, $S.admit, $S.settle, $S.refuse TO $R`,
];

/** Postgres 14 lets every role create functions in `public`, where other roles' statements may find them. */
async function openToWorkers(database: Database, role: string): Promise<Failed | undefined> {
  const rows = await database.ask(
    `SELECT 1 FROM pg_namespace AS schema, aclexplode(schema.nspacl) AS allowed
     WHERE schema.nspname = 'public' AND allowed.privilege_type = 'CREATE' AND (allowed.grantee = 0
       OR allowed.grantee = (SELECT oid FROM pg_roles WHERE rolname = $1))`,
    [role],
  );
  if (hasFailed(rows)) return rows;
  return rows.length === 0
    ? undefined
    : failedWith(
        "repository",
        "the fleet's Postgres lets workers create functions in its schema public",
        "run REVOKE CREATE ON SCHEMA public FROM PUBLIC in that database, or use a database of its own",
      );
}

/** In the form of RFC 5803, which Postgres stores unchanged. */
export function verifierOf(password: string, salt: Buffer): string {
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, ROUNDS, 32, "sha256");
  const keyed = (text: string) => createHmac("sha256", salted).update(text).digest();
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64");
  const server = keyed("Server Key").toString("base64");
  return `SCRAM-SHA-256$${ROUNDS}:${salt.toString("base64")}$${stored}:${server}`;
}

/** The number that Postgres itself uses. */
const ROUNDS = 4_096;

export function addressFor(url: string, role: string, password: string): string {
  const address = new URL(url);
  address.username = role;
  address.password = password;
  return address.href;
}
