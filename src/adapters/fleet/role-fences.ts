/** Limits workers' database roles beyond their rights, as far as Postgres allows it, and lists what is left to do. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { OpenEnd } from "../../ports/inspection.ts";
import type { Database } from "./database.ts";
import { workersRole } from "./workers.ts";

/** Connections of one machine: one listens, four are used briefly; twice that while the machine is replaced. */
export const MACHINE_CONNECTIONS = 12;

/** Keeps what an administrator has set. A statement that fails leaves an open end, which `openEndsOf` lists. */
export async function fenceRole(database: Database, role: string): Promise<void> {
  const rows = await database.ask<{ readonly statement: string }>(STATEMENTS, [role]);
  for (const { statement } of hasFailed(rows) ? [] : rows)
    await database.ask(statement, [], { patienceMs: 0 });
}

/** The limit of one session: a cursor could fill the disk. The functions that workers call need no such files. */
const MAX_TEMP_FILES = "16MB";

/** The connection limit holds for all machines together, so that the rest is left for coordinators. */
const STATEMENTS = `
  SELECT format('ALTER ROLE %I CONNECTION LIMIT %s', rolname, current_setting('max_connections')::int * 4 / 5)
    AS statement FROM pg_roles WHERE rolname = $1 AND rolconnlimit = -1
  UNION ALL SELECT format('GRANT %I TO CURRENT_USER', $1) WHERE NOT pg_has_role(current_user, $1, 'USAGE')
  UNION ALL SELECT format('ALTER ROLE %I SET temp_file_limit = ''${MAX_TEMP_FILES}''', rolname)
    FROM pg_roles WHERE rolname = $1 AND current_setting('temp_file_limit') = '-1'
      AND NOT coalesce(array_to_string(rolconfig, ','), '') LIKE '%temp_file_limit=%'
  UNION ALL SELECT format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database())
    WHERE has_database_privilege($1, current_database(), 'TEMPORARY')
  UNION ALL SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', string_agg(oid::regprocedure::text, ', '))
    FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
      AND proname IN ('lo_creat', 'lo_create', 'lo_from_bytea') AND has_function_privilege($1, oid, 'EXECUTE')
    HAVING count(*) > 0`;

/** What workers' roles may do beyond their work, each with the statement that ends it. */
export async function openEndsOf(database: Database): Promise<readonly OpenEnd[] | Failed> {
  const role = workersRole(database.schema);
  const roles = await database.ask<{ readonly role: string }>(
    "SELECT $1 AS role UNION SELECT role FROM $S.machine WHERE revoked_at IS NULL ORDER BY role",
    [role],
    { patienceMs: 0 },
  );
  if (hasFailed(roles)) return roles;
  const here = new Set<string>();
  for (const one of roles) {
    const rows = await database.ask<{ readonly statement: string }>(STATEMENTS, [one.role], {
      patienceMs: 0,
    });
    if (hasFailed(rows)) return rows;
    for (const { statement } of rows) here.add(statement);
  }
  const others = await database.ask<{ readonly statement: string }>(
    `SELECT format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', datname) AS statement FROM pg_database
     WHERE datallowconn AND datname <> current_database() AND has_database_privilege($1, oid, 'CONNECT')
     ORDER BY datname`,
    [role],
    { patienceMs: 0 },
  );
  if (hasFailed(others)) return others;
  return [
    ...[...here].map((statement) => ({ of: "database", statement }) as const),
    ...others.map(({ statement }) => ({ of: "others", statement }) as const),
  ];
}
