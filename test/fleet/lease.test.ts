/** Tests the coordinator's lease: one writer, a successor for a dead one, no loss over a restart of Postgres. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { Database } from "../../src/adapters/fleet/database.ts";
import { FleetRuns, mailboxOf } from "../../src/adapters/fleet/fleet-runs.ts";
import { migrateSchema } from "../../src/adapters/fleet/schema.ts";
import type { Event } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import { record, refusal, worked } from "../contracts/runs.ts";
import { newFolder } from "../support/folders.ts";
import { newDatabase, TestPostgres } from "../support/postgres.ts";

const LIMIT = { timeout: 120_000 };
const LEASE_MS = 15_000;
const event = (n: number, by = ""): Event => ({ type: "run.steered", message: `${n}${by}`, at: n });
const messages = (events: readonly Event[]) => events.map((one) => "message" in one && one.message);

async function opened(url: string) {
  const database = new Database({ url, schema: "skein" });
  assert.ok(!hasFailed(await migrateSchema(database)));
  const runs = new FleetRuns({ database, repository: "x", folder: newFolder() });
  const again = async () => worked(await runs.open("r1"));
  return { database, home: worked(await runs.create(record("r1"))), again };
}

/** Starts another process that takes the lease, reports that, and appends as long as it holds the lease. */
function coordinator(url: string) {
  const from = (file: string) => JSON.stringify(import.meta.resolve(`../../src/adapters/fleet/${file}.ts`));
  const source = `
    const { Database } = await import(${from("database")});
    const { FleetRuns } = await import(${from("fleet-runs")});
    const database = new Database({ url: process.env.URL, schema: "skein" });
    const home = await new FleetRuns({ database, repository: "x", folder: process.env.FOLDER }).open("r1");
    const lock = await home.lock();
    console.log(lock.failure ? "refused" : "locked");
    if (lock.failure) process.exit();
    for (let n = 0; ; n += 1) {
      const appended = await home.log.append(n, [{ type: "run.steered", message: n + " by " + process.pid, at: n }]);
      if (appended.is !== "done") break;
    }
    console.log("taken");
    process.exit();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    env: { PATH: process.env["PATH"] ?? "", URL: url, FOLDER: newFolder() },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, says: async () => (await lines.next()).value as string | undefined };
}

describe("the lease of a run", LIMIT, () => {
  it("is one coordinator's of several that begin at once, and only that one writes", async () => {
    const url = await newDatabase();
    const { again, database } = await opened(url);
    const all = [1, 2, 3].map(() => coordinator(url));
    const said = await Promise.all(all.map(({ says }) => says()));
    assert.deepEqual(said.sort(), ["locked", "refused", "refused"]);
    for (const { child } of all) child.kill("SIGKILL");
    const log = messages(await Array.fromAsync((await again()).log.read(0)));
    assert.equal(new Set(log.map((text) => String(text).split(" by ")[1])).size <= 1, true, "one writer");
    await database.close();
  });

  it("of a process that was killed here is free at once", async () => {
    const url = await newDatabase();
    const { home, database } = await opened(url);
    const other = coordinator(url);
    assert.equal(await other.says(), "locked");
    refusal(await home.lock());
    const gone = new Promise((resolve) => other.child.once("exit", resolve));
    other.child.kill("SIGKILL");
    await gone;
    const begun = performance.now();
    const lock = worked(await home.lock());
    assert.ok(performance.now() - begun < LEASE_MS / 2);
    await lock.release();
    await database.close();
  });

  it("of a process on another machine that was killed is free once it is out, and not before", async () => {
    const url = await newDatabase();
    const { home, database } = await opened(url);
    const other = coordinator(url);
    assert.equal(await other.says(), "locked");
    await database.ask("UPDATE $S.run SET owner = jsonb_set(owner::jsonb, '{machine}', '\"another\"')::text");
    assert.equal((await home.owner())?.pid, other.child.pid);
    refusal(await home.lock()); // The holder renews the lease meanwhile.
    other.child.kill("SIGKILL");
    const begun = performance.now();
    const lock = worked(await home.lock());
    const waited = performance.now() - begun;
    assert.ok(waited > LEASE_MS / 2 && waited < 2 * LEASE_MS, `${Math.round(waited)} ms`);
    await lock.release();
    await database.close();
  });

  it("that was taken over cannot be written under any more, and its holder hears of it", async () => {
    const { home, again, database } = await opened(await newDatabase());
    const old = worked(await home.lock());
    assert.deepEqual(await home.log.append(0, [event(1)]), { is: "done" });
    await database.ask("UPDATE $S.run SET lease_until = now() - interval '1 second', owner = '{}'");
    const next = await again();
    const lock = worked(await next.lock());
    assert.deepEqual(await home.log.append(1, [event(2, " by the old one")]), { is: "taken" });
    assert.match((await old.lost).failure.message, /another coordinator has taken over run r1/);
    assert.deepEqual(await next.log.append(1, [event(2)]), { is: "done" });
    await old.release();
    assert.equal(
      (await next.owner())?.pid,
      process.pid,
      "the old one gives nothing back that is not its own",
    );
    await lock.release();
    await database.close();
  });

  it("knows an append again whose answer was lost, and nobody else's in its place", async () => {
    const { home, database } = await opened(await newDatabase());
    await home.log.append(0, [event(1)]);
    const again = async (one: Event) => {
      const values = [home.id, 0, 0, 1, [JSON.stringify(one)]];
      const rows = await database.ask<{ is: string }>(
        "SELECT $S.append($1, $2, $3, $4, $5, true) AS is",
        values,
      );
      return hasFailed(rows) ? rows.failure.message : rows[0]?.is;
    };
    assert.equal(await again(event(1)), "done");
    assert.equal(await again(event(2)), "taken");
    assert.deepEqual(await Array.fromAsync(home.log.read(0)), [event(1)]);
    await database.close();
  });

  it("brings the wish to stop to a coordinator on another machine", async () => {
    const url = await newDatabase();
    const { home, database } = await opened(url);
    const other = coordinator(url);
    assert.equal(await other.says(), "locked");
    const gone = new Promise((resolve) => other.child.once("exit", (_, signal) => resolve(signal)));
    const owner = { pid: other.child.pid!, since: 1, host: "another" };
    assert.equal(await home.stop(owner, false), undefined);
    assert.equal(await gone, "SIGINT");
    await database.close();
  });
});

it("a restart of Postgres loses no event, no letter and no word of them", LIMIT, async () => {
  await using postgres = await TestPostgres.start();
  const url = await postgres.newDatabase();
  const { home, again, database } = await opened(url);
  const lock = worked(await home.lock());
  const stop = new AbortController();
  const TOTAL = 60;
  const followed: Event[] = [];
  const following = (async () => {
    for await (const one of (await again()).log.follow(0, stop.signal))
      if (followed.push(one) === TOTAL) return;
  })();
  const heard: unknown[] = [];
  const receiving = (async () => {
    for await (const { command, answer } of mailboxOf(await again()).receive(stop.signal)) {
      heard.push(command);
      await answer({ is: "heard" });
    }
  })();
  for (let n = 0; n < TOTAL; n += 1) {
    if (n % 20 === 10) {
      const restarted = postgres.stop().then(() => postgres.start());
      const sent = await home.mailbox.send({ type: "steer", message: `letter ${n}` });
      assert.ok(!hasFailed(sent));
      assert.deepEqual(await home.log.append(n, [event(n)]), { is: "done" });
      assert.deepEqual(await sent.answer(AbortSignal.timeout(30_000)), { is: "heard" });
      await restarted;
    } else assert.deepEqual(await home.log.append(n, [event(n)]), { is: "done" });
  }
  const wanted = Array.from({ length: TOTAL }, (_, n) => event(n));
  assert.deepEqual(await Array.fromAsync(home.log.read(0)), wanted);
  await following;
  assert.deepEqual(followed, wanted);
  assert.deepEqual(
    heard,
    [10, 30, 50].map((n) => ({ type: "steer", message: `letter ${n}` })),
  );
  stop.abort();
  await receiving;
  await lock.release();
  await database.close();
});
