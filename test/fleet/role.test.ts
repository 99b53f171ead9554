/** Tests the database role of workers: it can do their work, and neither read nor change anything else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Client } from "pg";
import { Database } from "../../src/adapters/fleet/database.ts";
import { FleetRuns } from "../../src/adapters/fleet/fleet-runs.ts";
import { makeWorkersRole } from "../../src/adapters/fleet/workers-role.ts";
import { coordinatorsBoss } from "../../src/adapters/job-queues/boss.ts";
import { initFleet } from "../../src/compose/fleet.ts";
import { hasFailed } from "../../src/core/result.ts";
import { record } from "../contracts/runs.ts";
import { newFolder } from "../support/folders.ts";
import { configOf } from "../support/live-runs.ts";
import { TestPostgres } from "../support/postgres.ts";

const SETTINGS = configOf({}).fleet;

async function initialised(url: string, more: Readonly<Record<string, string>> = {}) {
  const made = await initFleet({ SKEIN_FLEET_URL: url, ...more }, SETTINGS);
  assert.ok(!hasFailed(made), JSON.stringify(made));
  return made;
}

/** Makes Postgres write its own access file, so that the workers' password counts from here on. */
async function askForPasswords(url: string): Promise<void> {
  await using database = new Database({ url, schema: "skein" });
  const lines = "host all skein_worker 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n";
  const [file] = (await database.ask<{ hba_file: string }>("SHOW hba_file")) as { hba_file: string }[];
  await database.ask(`COPY (SELECT unnest(string_to_array('${lines}', '\n'))) TO '${file!.hba_file}'`);
  await database.ask("SELECT pg_reload_conf()");
}

async function as<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const codeOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => "allowed",
    (error: { code?: string }) => error.code ?? "without a code",
  );

describe("the role of workers", { timeout: 120_000 }, () => {
  it("reads no log, no mailbox, no permit, no ended job, and changes none of them", async () => {
    await using postgres = await TestPostgres.start();
    const url = await postgres.newDatabase();
    const { address } = await initialised(url);
    assert.ok(address);
    await using database = new Database({ url, schema: "skein" });
    const home = await new FleetRuns({ database, repository: "x", folder: newFolder() }).create(record("r1"));
    assert.ok(!hasFailed(home));
    await home.log.append(0, [{ type: "run.steered", message: "secret", at: 1 }]);
    await home.mailbox.send({ type: "pause" });
    await as(address, async (worker) => {
      const tables =
        "run event letter file report job worker account governed budget reservation machine joins account_word".split(
          " ",
        );
      for (const table of tables)
        for (const text of [`SELECT * FROM skein.${table}`, `DELETE FROM skein.${table}`])
          assert.equal(await codeOf(worker.query(text)), "42501", text);
      const others = [
        "SELECT skein.append(1, 0, 1, 1, '{}', false)",
        "SELECT skein.tell_governed(1, true, 'a', '{}')",
        "SELECT skein.may_report(gen_random_uuid())",
        "SELECT * FROM skein.claims(1, '', '')",
        "SELECT skein.permitted(gen_random_uuid())",
        "CREATE TABLE skein.mine (x int)",
        "CREATE FUNCTION skein.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SELECT skein.lose_try(gen_random_uuid())",
        "SELECT * FROM skein_jobs.job",
        "UPDATE skein_jobs.job SET state = 'completed'",
        "INSERT INTO skein_jobs.job_common (name) VALUES ('jobs')",
        "SET ROLE postgres",
        "SELECT pg_read_file('/etc/passwd')",
      ];
      for (const text of others) assert.equal(await codeOf(worker.query(text)), "42501", text);
      const permitless = [
        "SELECT * FROM skein.admit(gen_random_uuid(), gen_random_uuid(), '{a}', 1, 1)",
        "SELECT skein.refuse(gen_random_uuid(), 'a', 'quota', 1, '{}')",
        "SELECT skein.worker_read(gen_random_uuid(), 'kit.json')",
        "SELECT skein.worker_write(gen_random_uuid(), 'turns/x', 0, '')",
      ];
      for (const text of permitless) assert.equal(await codeOf(worker.query(text)), "SK001", text);
      const join = "SELECT skein.worker_join('w', gen_random_uuid(), '{}', 1, '1')";
      assert.equal(await codeOf(worker.query(join)), "allowed");
    });
  });

  it("gets a job by taking it, and can neither see nor end those of other machines", async () => {
    await using postgres = await TestPostgres.start();
    const url = await postgres.newDatabase();
    const { address } = await initialised(url);
    await using database = new Database({ url, schema: "skein" });
    const home = await new FleetRuns({ database, repository: "x", folder: newFolder() }).create(record("r1"));
    assert.ok(!hasFailed(home));
    for (const [priority, offer] of [
      [2, "told first"],
      [1, "told next"],
    ]) {
      const offered = await database.ask(
        `WITH boss AS (INSERT INTO $J.job (name, priority, data) VALUES ('jobs', $2, '{"runId": "1"}') RETURNING id)
         INSERT INTO $S.job (run, job, queue, boss, offer) SELECT $1, $3, 'jobs', id, $3 FROM boss`,
        [home.id, priority, offer],
      );
      assert.ok(!hasFailed(offered), JSON.stringify(offered));
    }
    await as(address!, async (worker) => {
      const token = "00000000-0000-4000-8000-000000000009";
      await worker.query("SELECT skein.worker_join('w', $1, '{}', 1, '1')", [token]);
      const take = `SELECT * FROM skein.worker_take($1, '${token}', 0)`;
      const permit = "00000000-0000-4000-8000-000000000001";
      const { rows } = await worker.query(take, [permit]);
      assert.deepEqual(rows, [{ offer: "told first", tries: 0 }]);
      assert.deepEqual((await worker.query(take, [permit])).rows, rows, "asked again, it is the same job");
      const next = "00000000-0000-4000-8000-000000000002";
      assert.deepEqual((await worker.query(take, [next])).rows, [{ offer: "told next", tries: 0 }]);
      const other = "00000000-0000-4000-8000-000000000003";
      assert.deepEqual((await worker.query(take, [other])).rows, [{ offer: null, tries: null }]);
      const answer = "SELECT skein.worker_answer($1, '{}') AS counts";
      assert.deepEqual((await worker.query(answer, [other])).rows, [{ counts: false }]);
      const seen = "SELECT * FROM skein.worker_seen($1, 'ready', $2) AS own (permit)";
      const { rows: own } = await worker.query(seen, [token, [permit, other]]);
      assert.deepEqual(own, [{ permit: token }, { permit }]);
      assert.deepEqual((await worker.query(answer, [permit])).rows, [{ counts: true }]);
    });
  });

  it("has a password that is shown once, or one that was brought and is not shown at all", async () => {
    await using postgres = await TestPostgres.start();
    const url = await postgres.newDatabase();
    const { address, role } = await initialised(url);
    assert.equal(role, "skein_worker");
    const again = await initialised(url);
    assert.deepEqual([again.address, again.password], [undefined, "kept"], "only the first time");
    await askForPasswords(url);
    assert.equal(await codeOf(as(address!, (worker) => worker.query("SELECT 1"))), "allowed");
    const brought = await initialised(url, { SKEIN_FLEET_WORKER_PASSWORD: "brought along" });
    assert.ok(!JSON.stringify(brought).includes("brought"));
    assert.equal(brought.password, "changed");
    const short = await initFleet({ SKEIN_FLEET_URL: url, SKEIN_FLEET_WORKER_PASSWORD: "abc" }, SETTINGS);
    assert.ok(hasFailed(short));
    assert.match(short.failure.message, /too short: a password has at least 12 characters/);
    assert.equal(await codeOf(as(address!, async () => {})), "28P01");
    const next = new URL(address!);
    next.password = "brought along";
    assert.equal(await codeOf(as(next.href, (worker) => worker.query("SELECT 1"))), "allowed");
  });

  it("has the password that was brought, also if its verifier looks like the name of a schema", async () => {
    await using postgres = await TestPostgres.start();
    const url = await postgres.newDatabase();
    const { address } = await initialised(url);
    const salt = Buffer.alloc(16, "salt 2"); // With this salt the verifier of the password contains "$S".
    await using database = new Database({ url, schema: "skein" });
    const env = { SKEIN_FLEET_URL: url, SKEIN_FLEET_WORKER_PASSWORD: "brought along" };
    assert.ok(!hasFailed(await makeWorkersRole(database, env, salt)));
    const stored = await database.ask("SELECT rolpassword FROM pg_authid WHERE rolname = 'skein_worker'");
    assert.match(JSON.stringify(stored), /\$S/);
    await askForPasswords(url);
    const next = new URL(address!);
    next.password = "brought along";
    assert.equal(await codeOf(as(next.href, (worker) => worker.query("SELECT 1"))), "allowed");
  });

  it("is not made where it could create functions that others run", async () => {
    await using postgres = await TestPostgres.start();
    const url = await postgres.newDatabase();
    // Postgres 14 grants this by default.
    await as(url, (owner) => owner.query("GRANT CREATE ON SCHEMA public TO PUBLIC"));
    const refused = await initFleet({ SKEIN_FLEET_URL: url }, SETTINGS);
    assert.ok(hasFailed(refused));
    assert.match(refused.failure.next ?? "", /REVOKE CREATE ON SCHEMA public FROM PUBLIC/);
    await as(url, (owner) => owner.query("REVOKE CREATE ON SCHEMA public FROM PUBLIC"));
    assert.ok((await initialised(url)).address);
  });

  it("gets nothing of its own run by a coordinator, even where it may create functions in public", async () => {
    await using postgres = await TestPostgres.start();
    const url = await postgres.newDatabase();
    const { address, role } = await initialised(url);
    await as(url, (owner) => owner.query(`GRANT CREATE ON SCHEMA public TO "${role}"`));
    await as(address!, (worker) =>
      worker.query(`CREATE FUNCTION public.trap(text, bigint) RETURNS text LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
        CREATE OPERATOR public.|| (LEFTARG = text, RIGHTARG = bigint, FUNCTION = public.trap)`),
    );
    await using database = new Database({ url, schema: "skein" });
    const home = await new FleetRuns({ database, repository: "x", folder: newFolder() }).create(record("r1"));
    assert.ok(!hasFailed(home));
    const append = `SELECT skein.append(${home.id}, 0, 0, 1, '{"{}"}', false)`;
    assert.equal(await codeOf(as(url, (other) => other.query(append))), "allowed");
    const joined = "SELECT 'a'::text || 1::bigint AS text";
    assert.deepEqual(await database.ask(joined), [{ text: "a1" }]);
    assert.ok(!hasFailed(await database.within((client) => client.query(joined))));
    const boss = await coordinatorsBoss(database);
    const asked = boss.getDb().executeSql(joined);
    assert.equal(await codeOf(asked.finally(() => boss.stop({ graceful: false, close: false }))), "allowed");
  });
});
