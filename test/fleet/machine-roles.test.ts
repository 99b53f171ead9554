/** Tests machines with roles of their own, owners who are no superusers, and fleets that an older Skein made. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { endBlockingSessions } from "../../src/adapters/fleet/blocking-sessions.ts";
import { Database, inSchema } from "../../src/adapters/fleet/database.ts";
import { FleetRuns } from "../../src/adapters/fleet/fleet-runs.ts";
import { openEndsOf } from "../../src/adapters/fleet/role-fences.ts";
import { schemaProblem } from "../../src/adapters/fleet/schema.ts";
import { migrateJobs } from "../../src/adapters/job-queues/boss.ts";
import { FleetSource } from "../../src/adapters/job-queues/fleet-source.ts";
import { initFleet, inviteToFleet, revokeFromFleet } from "../../src/compose/fleet.ts";
import { type Failed, hasFailed } from "../../src/core/result.ts";
import { record } from "../contracts/runs.ts";
import { newFolder } from "../support/folders.ts";
import { configOf } from "../support/live-runs.ts";
import { TestPostgres } from "../support/postgres.ts";

const SETTINGS = configOf({}).fleet;
const BUILD_3 = { name: "build-3", expiresMs: 24 * 3_600_000 };

function good<T extends object>(result: T | Failed): T {
  assert.ok(!hasFailed(result), JSON.stringify(result));
  return result as T;
}

const why = (result: object) =>
  hasFailed(result) ? `${result.failure.message}; ${result.failure.next}` : JSON.stringify(result);

async function begin() {
  const stack = new AsyncDisposableStack();
  // A Postgres of its own, because roles belong to all databases of a server.
  const postgres = stack.use(await TestPostgres.start());
  const url = await postgres.newDatabase();
  const env = { SKEIN_FLEET_URL: url };
  const { address } = good(await initFleet(env, SETTINGS));
  const database = stack.use(new Database({ url, schema: "skein" }));
  const join = async (at: string, name: string) => {
    const own = stack.use(new Database({ url: at, schema: "skein", machine: name }));
    const options = { database: own, name, labels: [], capacity: 1, version: "1", patienceMs: 0 };
    const source = await FleetSource.open(options);
    return hasFailed(source) ? source : stack.use(source);
  };
  const all = { postgres, url, env, address: address!, database, join };
  return { ...all, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Makes Postgres ask every role but the administrator for its password from here on. */
async function askForPasswords(database: Database): Promise<void> {
  const lines = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
  const [file] = good(await database.ask<{ hba_file: string }>("SHOW hba_file"));
  good(await database.ask(`COPY (SELECT unnest(string_to_array('${lines}', '\n'))) TO '${file!.hba_file}'`));
  good(await database.ask("SELECT pg_reload_conf()"));
}

describe("a machine that was invited", { timeout: 180_000 }, () => {
  it("has an address and a name of its own, until it is revoked: then its session, its name and its role are gone", async () => {
    await using fleet = await begin();
    const { env, address, database, join } = fleet;
    await askForPasswords(database);
    const before = good(await join(address, "build-3")) as FleetSource;
    const invited = good(await inviteToFleet(env, SETTINGS, BUILD_3));
    assert.match(
      why(await inviteToFleet(env, SETTINGS, BUILD_3)),
      /invited already; skein fleet revoke build-3/,
    );
    assert.match(why(await join(address, "build-3")), /belongs to a machine that was invited/);
    assert.match(why(await join(invited.address, "build-4")), /made for another name/);
    good(await join(invited.address, "build-3"));
    assert.equal(await before.next(AbortSignal.timeout(300)), undefined, "it has the name no more");
    good(await join(address, "build-4"));
    const left = new Client({ connectionString: invited.address });
    const ended = new Promise<void>((resolve) => left.once("end", resolve));
    left.on("error", () => {}); // The session was ended.
    await left.connect();
    const { sessions } = good(await revokeFromFleet(env, SETTINGS, "build-3"));
    assert.ok(sessions >= 1);
    await ended;
    assert.match(why(await join(invited.address, "build-3")), /refused the user/);
    assert.deepEqual(await database.ask("SELECT 1 FROM pg_roles WHERE rolname = $1", [invited.role]), []);
    good(await join(address, "build-5"));
    assert.match(why(await revokeFromFleet(env, SETTINGS, "build-3")), /no machine build-3 was invited/);
    const again = good(await inviteToFleet(env, SETTINGS, BUILD_3));
    good(await join(again.address, "build-3"));
  });

  it("may do nothing any more once its invitation has expired, also over a session that is still open", async () => {
    await using fleet = await begin();
    const { env, database, join } = fleet;
    const { address, role } = good(await inviteToFleet(env, SETTINGS, BUILD_3));
    const limits = await database.ask(
      "SELECT rolconnlimit AS n, rolvaliduntil > now() AS until FROM pg_roles WHERE rolname = $1",
      [role],
    );
    assert.deepEqual(limits, [{ n: 12, until: true }]);
    const source = good(await join(address, "build-3")) as FleetSource;
    await database.ask("UPDATE $S.machine SET expires_at = now()");
    assert.equal(await source.next(AbortSignal.timeout(300)), undefined);
    assert.match(
      why(await join(address, "build-3")),
      /does not let this machine work any more.*skein fleet invite/,
    );
    good(await inviteToFleet(env, SETTINGS, BUILD_3));
  });

  it("goes on when the role that all others share is revoked, which only a new password allows again", async () => {
    await using fleet = await begin();
    const { env, address, join } = fleet;
    const invited = good(await inviteToFleet(env, SETTINGS, BUILD_3));
    good(await join(address, "build-1"));
    good(await revokeFromFleet(env, SETTINGS, undefined));
    assert.match(why(await join(address, "build-1")), /refused the user/);
    good(await join(invited.address, "build-3"));
    assert.equal(good(await initFleet(env, SETTINGS)).password, "revoked");
    assert.match(why(await join(address, "build-1")), /refused the user/);
    const given = { ...env, SKEIN_FLEET_WORKER_PASSWORD: "brought along" };
    assert.equal(good(await initFleet(given, SETTINGS)).password, "changed");
    const next = new URL(address);
    next.password = "brought along";
    good(await join(next.href, "build-1"));
  });
});

describe("the owner of a fleet", { timeout: 120_000 }, () => {
  it("needs to be no superuser: invites, ends sessions, and is told what only an administrator can do", async () => {
    await using postgres = await TestPostgres.start();
    const admin = new Client({ connectionString: await postgres.newDatabase() });
    await admin.connect();
    await admin.query("CREATE ROLE boss LOGIN CREATEROLE PASSWORD 'boss'");
    await admin.query("CREATE DATABASE owned OWNER boss");
    await admin.end();
    const url = postgres.url("owned").replace(/\/\/[^@]*@/, "//boss:boss@");
    const env = { SKEIN_FLEET_URL: url };
    const { address } = good(await initFleet(env, SETTINGS));
    await using database = new Database({ url, schema: "skein" });
    const liar = new Client({ connectionString: address! });
    liar.on("error", () => {}); // The session was ended.
    const ended = new Promise<void>((resolve) => liar.once("end", resolve));
    await liar.connect();
    await assert.rejects(liar.query("CREATE TEMPORARY TABLE mine (x int)"), { code: "42501" });
    await liar.query("BEGIN");
    await liar.query("SELECT number FROM skein.version");
    const over = new AbortController();
    const held: string[] = [];
    const looking = endBlockingSessions(database, ({ machine }) => held.push(machine), over.signal);
    await ended;
    while (held.length === 0) await pause(20);
    over.abort();
    await looking;
    assert.deepEqual(held, ["a worker at 127.0.0.1"]);
    const invited = good(await inviteToFleet(env, SETTINGS, BUILD_3));
    good(await revokeFromFleet(env, SETTINGS, "build-3"));
    assert.deepEqual(await database.ask("SELECT 1 FROM pg_roles WHERE rolname = $1", [invited.role]), []);
    const open = good(await openEndsOf(database));
    const said = open.map(({ statement }) => statement).join("\n");
    assert.match(said, /^REVOKE CONNECT, TEMPORARY ON DATABASE postgres FROM PUBLIC$/m);
    assert.match(said, /^REVOKE EXECUTE ON FUNCTION lo_/m, "functions of Postgres are not the owner's");
    assert.doesNotMatch(
      said,
      /CONNECTION LIMIT|GRANT|TEMPORARY ON DATABASE owned/,
      "these it could do itself",
    );
  });
});

describe("a fleet that an older Skein made", { timeout: 120_000 }, () => {
  it("is refused with what to do, then brought up to date with all that it holds", async () => {
    await using postgres = await TestPostgres.start();
    const url = await postgres.newDatabase();
    await using database = new Database({ url, schema: "skein" });
    const old = readFileSync(new URL("../fixtures/fleets/2.sql", import.meta.url), "utf8");
    await database.query("CREATE SCHEMA skein");
    await database.query("CREATE TABLE skein.version (number int NOT NULL)");
    await database.query("INSERT INTO skein.version VALUES (2)");
    await database.query(inSchema(old, "skein"));
    assert.equal(await migrateJobs(database, url), undefined);
    const home = good(
      await new FleetRuns({ database, repository: "x", folder: newFolder() }).create(record("r1")),
    );
    await home.log.append(0, [{ type: "run.paused", at: 1 }]);
    const offer = {
      run: "r1",
      runId: home.id,
      job: "gate:a",
      needs: [],
      what: { is: "gate", tree: { job: "gate:a" } },
    };
    good(
      await database.ask(
        `WITH boss AS (INSERT INTO $J.job (name, data) VALUES ('jobs', '{"runId": "1"}') RETURNING id)
         INSERT INTO $S.job (run, job, queue, boss, offer) SELECT $1, 'gate:a', 'jobs', id, $2 FROM boss`,
        [home.id, JSON.stringify(offer)],
      ),
    );
    await database.ask("INSERT INTO $S.account (name, state, failure) VALUES ('a', 'refused', '{}')");
    assert.match(
      why((await schemaProblem(database)) ?? {}),
      /older fleet .*number 2, not 3.*skein fleet init.*is kept/,
    );
    const { from, to } = good(await initFleet({ SKEIN_FLEET_URL: url }, SETTINGS));
    assert.deepEqual([from, to], [2, 3]);
    assert.equal((await home.log.append(1, [{ type: "run.resumed", at: 2 }])).is, "done");
    const source = good(
      await FleetSource.open({ database, name: "new", labels: [], capacity: 1, version: "1" }),
    ) as FleetSource;
    const taken = await source.next(AbortSignal.timeout(10_000));
    assert.equal(taken?.offered.job, "gate:a");
    good(await database.ask("SELECT $S.worker_write($1, 'turns/x', 0, '')", [taken.offered.permit]));
    const done = { is: "gated", gated: { report: { commands: [] }, problems: [], tail: "" } } as const;
    assert.equal(await taken.answer(done), "taken");
    assert.deepEqual(await database.ask("SELECT name, run FROM $S.account"), [{ name: "a", run: null }]);
    await source[Symbol.asyncDispose]();
  });
});
