/** Tests how much a hostile worker can fill, block or take with all that its role may do. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { hasFailed } from "../../src/core/result.ts";
import { type Fleet, job, openFleet } from "./hostile-place.ts";

let fleet: Fleet;

async function lines(text: string): Promise<readonly Record<string, unknown>[]> {
  const rows = await fleet.database.ask<Record<string, unknown>>(text);
  assert.ok(!hasFailed(rows), JSON.stringify(rows));
  return rows;
}

describe("a worker of a fleet that takes what it can", { timeout: 240_000 }, () => {
  beforeEach(async () => {
    fleet = await openFleet();
  });
  afterEach(() => fleet[Symbol.asyncDispose]());

  it("queues up before a coordinator's own call for as long as one session may wait, however many it opens", async () => {
    const { offer, governor } = await fleet.run("r1");
    const liar = await fleet.joined("liar");
    await offer(1);
    const permit = await liar.take();
    fleet.guard();
    let isOver = false;
    const hold = async () => {
      const { ask, ended } = await fleet.session();
      await ask("BEGIN");
      await ask("SELECT * FROM skein.admit($1, gen_random_uuid(), '{a}', 1, 1)", [permit]);
      await ended;
    };
    const queue = Array.from({ length: 24 }, async () => {
      while (!isOver) await hold().catch(() => pause(5)); // The session was ended.
    });
    await pause(1_000);
    const begun = performance.now();
    const wanted = { job: job(2), task: "t.2", accounts: ["a"], most: { tokens: 1 } } as const;
    const admitted = await governor.admit(wanted as never, AbortSignal.timeout(60_000));
    assert.ok("account" in admitted, JSON.stringify(admitted));
    assert.ok(performance.now() - begun < 20_000, `${performance.now() - begun} ms`);
    isOver = true;
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'skein_worker'";
    while ((await lines(end)).length > 0) await pause(50);
    await Promise.all(queue);
  });

  it("holds a job by sessions that wait for each other no longer than a statement of a worker may take", async () => {
    const { offer } = await fleet.run("r1");
    const liar = await fleet.joined("liar");
    const permits: string[] = [];
    for (const n of [1, 2, 3, 4, 5, 6, 7]) {
      await offer(n);
      permits.push(await liar.take());
    }
    fleet.guard();
    const report = "SELECT skein.worker_report($1, '{}')";
    const holders = permits.map(async (permit, i) => {
      await pause(i * 4_000);
      const { ask, ended } = await fleet.session();
      await ask("BEGIN");
      await ask(report, [permit]);
      await ended;
    });
    await liar.ask("BEGIN");
    const begun = performance.now();
    const held = liar.ended.then(() => performance.now() - begun);
    for (const permit of permits) await liar.ask(report, [permit]).catch(() => {}); // The session was ended.
    assert.ok((await held) < 24_000, `${await held} ms`);
    await Promise.all(holders);
  });

  it("fills no disk by what a session may keep beside tables, nor by files of its job", async () => {
    const { offer } = await fleet.run("r1");
    const liar = await fleet.joined("liar");
    const cursor = "DECLARE c CURSOR WITH HOLD FOR SELECT repeat('x', 1000) FROM generate_series(1, 100000)";
    const filler = await fleet.session();
    await filler.ask("BEGIN");
    await filler.ask(cursor);
    await assert.rejects(filler.ask("COMMIT"), { code: "53400" });
    await assert.rejects(liar.ask("SET temp_file_limit = -1"), { code: "42501" });
    await offer(1);
    const permit = await liar.take();
    const write = async (from: number, to: number) => {
      const files = `SELECT count(*) FILTER (WHERE skein.worker_write($1, 'turns/work-t.1-1/' || n, 0, 'x'))::int AS n
        FROM generate_series($2::int, $3::int) AS n`;
      return (await liar.ask(files, [permit, from, to])).rows[0].n;
    };
    assert.equal(await write(1, 4_000), 4_000);
    assert.equal(await write(4_001, 4_200), 96);
    assert.equal(await write(1, 3), 3, "what is there can be written anew");
    await lines("UPDATE $J.job SET retry_count = 1");
    assert.equal(await write(5_001, 5_003), 3, "another try has room of its own");
  });

  it("takes no name from a worker that joined while it waited, and no room in the fleet from invited machines", async () => {
    const [first, second] = [await fleet.session(), await fleet.session()];
    const join = "SELECT skein.worker_join($1, $2, '{}', 1, '1') AS is";
    await first.ask("BEGIN");
    await first.ask(join, ["twin", randomUUID()]);
    const later = second.ask(join, ["twin", randomUUID()]);
    const waiting =
      "SELECT FROM pg_stat_activity WHERE usename = 'skein_worker' AND wait_event_type = 'Lock'";
    while ((await lines(waiting)).length === 0) await pause(10);
    await first.ask("COMMIT");
    assert.deepEqual((await later).rows, [{ is: "taken" }]);
    await lines(`INSERT INTO $S.worker (name, token, role, labels, capacity, version, state)
      SELECT 'x' || n, gen_random_uuid(), 'skein_worker', '{}', 1, '1', 'ready' FROM generate_series(1, 5000) AS n`);
    assert.deepEqual((await first.ask(join, ["honest", randomUUID()])).rows, [{ is: "full" }]);
    const invited = await fleet.invited("build-3");
    assert.deepEqual((await invited.ask(join, ["build-3", randomUUID()])).rows, [{ is: "joined" }]);
  });

  it("leaves nothing but the result of an answer, no sum that is beyond numbers, and no job without a permit", async () => {
    const { offer } = await fleet.run("r1", ["a"], 2_000_000_000_000);
    const liar = await fleet.joined("liar");
    await offer(1);
    const none = await liar.ask("SELECT * FROM skein.worker_take(NULL, $1, 0)", [liar.token]);
    assert.deepEqual(none.rows, [{ offer: null, tries: null }]);
    const permit = await liar.take();
    const admit = "SELECT id FROM skein.admit($1, gen_random_uuid(), '{a}', 1, NULL)";
    const { rows } = await liar.ask(admit, [permit]);
    await liar.ask("SELECT skein.settle($1, $2, 9000000000000000000, 9000000000000000000)", [
      permit,
      rows[0].id,
    ]);
    assert.deepEqual(await lines("SELECT used_tokens, used_microdollars FROM $S.job"), [
      { used_tokens: "1000000000000", used_microdollars: "1000000000000" },
    ]);
    const answer =
      "SELECT skein.worker_answer($1, jsonb_build_object('result', '{}', 'x', repeat('y', 20000000)))";
    await liar.ask(answer, [permit]);
    assert.deepEqual(await lines("SELECT output FROM $J.job"), [{ output: { result: "{}" } }]);
  });

  it("is charged for what it says late only in numbers that a log can hold", async () => {
    const { offer, offers } = await fleet.run("r1");
    const liar = await fleet.joined("liar");
    const words: readonly [string, object | undefined][] = [
      ['{"tokens": 1e999}', undefined],
      ['{"tokens": 5, "microdollars": "much"}', undefined],
      ['{"tokens": 5, "unaccounted": {"calls": [], "tokens": "1"}}', undefined],
      ['{"tokens": 5, "other": "words"}', { tokens: 5 }],
    ];
    for (const [n, [said, spent]] of words.entries()) {
      await offer(n);
      const permit = await liar.take();
      const heard = offers.lastWords(job(n));
      await liar.ask("SELECT skein.worker_report($1, $2)", [permit, `{"is": "late", "spent": ${said}}`]);
      assert.deepEqual(await heard, spent, said);
    }
  });
});
