/** Tests the fleet's database: statements, notifications, restarts of Postgres, and that its address is never shown. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Database } from "../../src/adapters/fleet/database.ts";
import { migrateSchema, schemaProblem } from "../../src/adapters/fleet/schema.ts";
import { initFleet } from "../../src/compose/fleet.ts";
import { hasFailed } from "../../src/core/result.ts";
import { configOf } from "../support/live-runs.ts";
import { newDatabase, TestPostgres } from "../support/postgres.ts";

const soon = () => AbortSignal.timeout(20_000);
const messageOf = (result: object | undefined) =>
  result && hasFailed(result) ? `${result.failure.message}; ${result.failure.next}` : "it worked";

describe("the fleet's schema", { timeout: 60_000 }, () => {
  it("is missing at first, in words that name the command; then made once, also by several at once", async () => {
    // A Postgres of its own, because roles belong to all databases of a server.
    await using postgres = await TestPostgres.start();
    const url = await postgres.newDatabase();
    await using database = new Database({ url, schema: "skein" });
    assert.match(messageOf(await schemaProblem(database)), /has no fleet yet.*`skein fleet init` makes it/);
    const init = () => initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet);
    const made = await Promise.all([init(), init(), init()]);
    assert.deepEqual(made.map((one) => !hasFailed(one) && one.from).sort(), [0, 3, 3], JSON.stringify(made));
    assert.equal(
      made.filter((one) => !hasFailed(one) && one.address !== undefined).length,
      1,
      "one made the role",
    );
    assert.equal(await schemaProblem(database), undefined);
  });

  it("is not asked for long where nothing answers: a person waits for it", async () => {
    const url = (await newDatabase()).replace(/:\d+\//, ":1/");
    await using database = new Database({ url, schema: "skein" });
    const begun = performance.now();
    assert.match(messageOf(await schemaProblem(database)), /cannot be reached/);
    assert.ok(performance.now() - begun < 8_000, "it gives up after 5 s");
  });

  it("of a newer Skein is refused, and stays as it is", async () => {
    await using database = new Database({ url: await newDatabase(), schema: "skein" });
    await migrateSchema(database);
    await database.ask("UPDATE $S.version SET number = 99");
    assert.match(messageOf(await schemaProblem(database)), /made by a newer Skein .*number 99.*update Skein/);
    assert.match(messageOf(await migrateSchema(database)), /made by a newer Skein/);
    assert.deepEqual(await database.ask("SELECT number FROM $S.version"), [{ number: 99 }]);
  });
});

describe("the fleet's database", { timeout: 60_000 }, () => {
  it("never says its address: neither unreachable, nor refused, nor without a database", async () => {
    const url = await newDatabase();
    const wrong = [
      url.replace(/:\d+\//, ":1/"),
      url.replace("127.0.0.1", "no-such-host.invalid"),
      `${url}_gone`,
    ];
    for (const address of wrong) {
      await using database = new Database({ url: address, schema: "skein" });
      const said = messageOf(await database.ask("SELECT 1", [], { patienceMs: 0 }));
      assert.match(said, /^the fleet's Postgres (?:cannot be reached|has no such database)/);
      assert.doesNotMatch(said, /correct-horse|no-such-host|127\.0\.0\.1/);
    }
    await using database = new Database({ url, schema: "skein" });
    const said = messageOf(await database.ask("SELECT $1 || nothing", [`at ${url}`]));
    assert.match(said, /refused it/);
  });

  it("waits for a lock that is not its own to end for some seconds, and says so: what may wait longer asks again", async () => {
    const url = await newDatabase();
    await using database = new Database({ url, schema: "skein" });
    await using other = new Database({ url, schema: "skein" });
    await database.ask("CREATE TABLE public.x AS SELECT 1 AS n");
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>();
    const holding = other.within(async (client) => {
      await client.query("BEGIN; SELECT * FROM public.x FOR UPDATE");
      hasLocked();
      await ended;
      return {};
    });
    await locked;
    const begun = performance.now();
    const impatient = await database.ask("UPDATE public.x SET n = 2", [], { patienceMs: 0 });
    assert.match(messageOf(impatient), /keeps a statement waiting.*skein doctor --fleet/);
    assert.ok(performance.now() - begun < 13_000, "before the statement has had all of its time");
    const patient = database.ask("UPDATE public.x SET n = 2 RETURNING n");
    end();
    assert.deepEqual(await patient, [{ n: 2 }]);
    await holding;
  });

  it("wakes who waits on a channel, and nobody else", async () => {
    await using database = new Database({ url: await newDatabase(), schema: "skein" });
    using mine = database.nudges("a");
    using other = database.nudges("b");
    await Promise.all([mine.next(soon()), other.next(soon())]); // From here on both listen.
    const waits = other.next(soon()).then(() => performance.now());
    const begun = performance.now();
    await database.ask("SELECT pg_notify('skein:a', '')");
    await mine.next(soon());
    assert.ok(performance.now() - begun < 4_000, "a word wakes, not the poll");
    await database.ask("SELECT pg_notify('skein:b', '')");
    assert.ok((await waits) > begun);
  });

  it("survives a restart: a statement is tried again, and who waits is woken afterwards", async () => {
    await using postgres = await TestPostgres.start();
    await using database = new Database({ url: await postgres.newDatabase(), schema: "skein" });
    using nudges = database.nudges("a");
    await nudges.next(soon());
    await postgres.stop();
    const asked = database.ask("SELECT 1 AS one");
    assert.match(
      messageOf(await database.ask("SELECT 1", [], { patienceMs: 0 })),
      /cannot be reached.*SKEIN_FLEET_URL/,
    );
    await postgres.start();
    assert.deepEqual(await asked, [{ one: 1 }]);
    await nudges.next(soon()); // It listens again, and has looked for missed notifications.
    const begun = performance.now();
    await database.ask("SELECT pg_notify('skein:a', '')");
    await nudges.next(soon());
    assert.ok(performance.now() - begun < 4_000, "a word wakes, not the poll");
  });
});
