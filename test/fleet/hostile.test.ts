/** Tests hostile workers: what they can do over a connection of their own, and what that costs other workers. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { withoutBlockers } from "../../src/adapters/fleet/blocking-sessions.ts";
import type { FleetRun } from "../../src/adapters/fleet/fleet-runs.ts";
import { followMachines } from "../../src/adapters/fleet/machines.ts";
import { initFleet } from "../../src/compose/fleet.ts";
import { hasFailed } from "../../src/core/result.ts";
import { configOf } from "../support/live-runs.ts";
import { type Fleet, job, openFleet } from "./hostile-place.ts";

let fleet: Fleet;

/** The error code of a statement. The coordinator may have ended the session in between. */
const codeOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => "allowed",
    (error: { code?: string }) => error.code ?? "without a code",
  );

async function lines(
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const rows = await fleet.database.ask<Record<string, unknown>>(text, values);
  assert.ok(!hasFailed(rows), JSON.stringify(rows));
  return rows;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(20);
}

describe("a worker of a fleet that lies", { timeout: 240_000 }, () => {
  beforeEach(async () => {
    fleet = await openFleet();
  });
  afterEach(() => fleet[Symbol.asyncDispose]());

  it("holds no job by a transaction that it keeps open: another machine gets it, and the log names the liar", async () => {
    const { offer } = await fleet.run("r1");
    const liar = await fleet.joined("liar");
    const honest = await fleet.machine("honest");
    fleet.guard();
    await offer(1);
    await liar.ask("BEGIN");
    await until(async () => {
      const { rows } = await liar.ask("SELECT offer FROM skein.worker_take($1, $2, 0)", [
        randomUUID(),
        liar.token,
      ]);
      return rows[0].offer !== null;
    });
    const begun = performance.now();
    const taken = await honest.next(AbortSignal.timeout(20_000));
    assert.equal(taken?.offered.job, job(1));
    assert.ok(performance.now() - begun < 12_000, `${performance.now() - begun} ms`);
    await liar.ended;
    await until(() => fleet.told.length > 0);
    assert.match(
      JSON.stringify(fleet.told[0]),
      /"type":"held","machine":"liar at 127\.0\.0\.1","heldMs":[5-9]\d{3}/,
    );
  });

  it("holds none either while it waits for a lock of its own that is in nobody's way", async () => {
    const { offer } = await fleet.run("r1");
    const [liar, second] = [await fleet.joined("liar"), await fleet.session()];
    const honest = await fleet.machine("honest");
    fleet.guard();
    await offer(1);
    await second.ask("SELECT pg_advisory_lock(42)");
    await liar.ask("BEGIN");
    await liar.take();
    void liar.ask("SELECT pg_advisory_lock(42)").catch(() => {}); // The session is ended.
    const taken = await honest.next(AbortSignal.timeout(20_000));
    assert.equal(taken?.offered.job, job(1));
    await liar.ended;
  });

  it("is no larger than a machine can be: labels that no task can name are dropped, as are slots below 0", async () => {
    const liar = await fleet.session();
    const labels = [...Array.from({ length: 40 }, (_, n) => `l${n}`), "x".repeat(1_000_000), "Obey me", null];
    const join = "SELECT skein.worker_join('fat', $1, $2, $3, '1')";
    await liar.ask(join, [randomUUID(), [...labels].reverse(), -2_000_000_000]);
    const [fat] = await lines(
      "SELECT cardinality(labels) AS count, capacity, pg_column_size(labels) AS bytes FROM $S.worker",
    );
    assert.deepEqual([fat!["count"], fat!["capacity"]], [32, 0]);
    assert.ok(Number(fat!["bytes"]) < 2_000, `${fat!["bytes"]} bytes`);
  });

  it("leaves no answer that is longer than a coordinator reads", async () => {
    const { offer } = await fleet.run("r1");
    const liar = await fleet.joined("liar");
    for (const [n, chars] of [16_000_000, 16_000_001].entries()) {
      await offer(n);
      const answer =
        "SELECT skein.worker_answer($1, jsonb_build_object('result', repeat('x', $2))) AS counts";
      assert.deepEqual((await liar.ask(answer, [await liar.take(), chars])).rows, [{ counts: true }]);
    }
    const kept = await lines("SELECT length(output->>'result') AS length FROM $J.job ORDER BY created_on");
    assert.deepEqual(kept, [{ length: 16_000_000 }, { length: null }]);
  });

  it("keeps no call of its run, no event of its log and no lease waiting by a transaction that it keeps open", async () => {
    const { home, governor, offer } = await fleet.run("r1");
    const lock = await home.lock();
    assert.ok(!hasFailed(lock));
    await fleet.database.ask("UPDATE $S.run SET fence = 0 WHERE id = $1", [home.id]);
    (home as FleetRun).log.fence = 0;
    const liar = await fleet.joined("liar");
    await offer(1);
    const permit = await liar.take();
    fleet.guard();
    await liar.ask("BEGIN");
    await liar.ask("SELECT skein.worker_report($1, '{}')", [permit]);
    const begun = performance.now();
    assert.equal((await home.log.append(0, [{ type: "run.paused", at: 1 }])).is, "done");
    assert.ok(performance.now() - begun < 3_000, "an event does not wait for it at all");
    await liar.ask("SELECT * FROM skein.admit($1, gen_random_uuid(), '{a}', 1, 1)", [permit]);
    const wanted = { job: job(2), task: "t.2", accounts: ["a"], most: { tokens: 1 } } as const;
    const admitted = await governor.admit(wanted as never, AbortSignal.timeout(15_000));
    assert.ok("account" in admitted, JSON.stringify(admitted));
    await liar.ended;
    await lock.release();
  });

  it("holds no lock that commands of a person wait for, also where no coordinator is", async () => {
    const liar = await fleet.session();
    await liar.ask("SELECT pg_advisory_lock(hashtext('skein:skein'))");
    const again = await initFleet({ SKEIN_FLEET_URL: fleet.url }, configOf({}).fleet);
    assert.ok(!hasFailed(again), JSON.stringify(again));
    await liar.ended;
    const { home, offer } = await fleet.run("r1");
    await offer(1);
    const other = await fleet.joined("other");
    const permit = await other.take();
    await other.ask("BEGIN");
    await other.ask("SELECT skein.worker_report($1, '{}')", [permit]);
    const removed = await withoutBlockers(fleet.database, () =>
      fleet.database.ask("DELETE FROM $S.run WHERE id = $1 RETURNING id", [home.id]),
    );
    assert.ok(!hasFailed(removed) && removed.length === 1, JSON.stringify(removed));
  });

  it("fills no log by joining: no token, no sign of life; one name, one worker; few joins a minute", async () => {
    void followMachines(fleet.database, fleet.tell, fleet.over.signal);
    const victim = await fleet.joined("victim");
    const liar = await fleet.session();
    const seen = "SELECT * FROM skein.worker_seen($1, $2, '{}')";
    for (const state of ["gone", "draining"])
      assert.equal((await liar.ask(seen, [randomUUID(), state])).rowCount, 0, "it has no token of another's");
    const join = async (name: string) =>
      (await liar.ask("SELECT skein.worker_join($1, gen_random_uuid(), '{}', 1, '1') AS is", [name])).rows[0]
        .is;
    assert.equal(await join("victim"), "taken");
    const token = randomUUID();
    await liar.ask("SELECT skein.worker_join('flicker', $1, '{}', 1, '1')", [token]);
    const begun = performance.now();
    for (let i = 0; performance.now() - begun < 3_000; i += 1)
      await liar.ask(seen, [token, ["ready", "draining", "ready"][i % 3]]);
    await liar.ask(seen, [token, "ready"]);
    const stateOf = async (name: string) =>
      (await lines("SELECT state FROM $S.worker WHERE name = $1", [name]))[0];
    assert.deepEqual(
      await stateOf("flicker"),
      { state: "draining" },
      "it is not ready again before it joins again",
    );
    assert.deepEqual(await stateOf("victim"), { state: "ready" });
    await pause(1_500);
    const flickers = fleet.told.filter((one) => one.type === "machine" && one.machine === "flicker");
    assert.ok(flickers.length <= 2, `${flickers.length} events: ready, then draining`);
    assert.equal((await victim.ask(seen, [victim.token, "ready"])).rowCount, 1);
    const said = await Array.fromAsync({ length: 700 }, (_, i) => join(`liar-${i}`));
    const count = said.filter((is) => is === "joined").length;
    assert.ok(count <= 600, `${count} joined, in two minutes at most`);
    assert.ok(said.includes("wait"));
  });

  it("parks no account but its own run's, in words of Postgres, for an hour at most, and for no other run", async () => {
    const [mine, others] = [await fleet.run("r1", ["a", "b"]), await fleet.run("r2", ["a", "theirs"])];
    const liar = await fleet.joined("liar");
    await mine.offer(1);
    const permit = await liar.take();
    const lie = (account: string, kind: string) =>
      liar.ask("SELECT skein.refuse($1, $2, $3, 1e12, $4) AS taken", [
        ...[permit, account, kind, JSON.stringify({ kind, message: "LIES", next: "run my program" })],
      ]);
    assert.deepEqual((await lie("theirs", "quota")).rows, [{ taken: false }]);
    assert.deepEqual((await lie("a", "gone mad")).rows, [{ taken: false }]);
    for (const kind of ["quota", "authentication"])
      assert.deepEqual((await lie("a", kind)).rows, [{ taken: true }]);
    const rows = await lines(
      `SELECT run = $1 AS "isMine", until <= now() + interval '1 hour' AS "isShort", failure ~ 'LIES|program' AS "isLie"
       FROM $S.account`,
      [mine.home.id],
    );
    assert.deepEqual(rows, [{ isMine: true, isShort: true, isLie: false }]);
    const wanted = { job: job(2), task: "t.2", accounts: ["a"], most: { tokens: 1 } } as never;
    assert.ok(
      "account" in (await others.governor.admit(wanted, AbortSignal.timeout(5_000))),
      "another run calls it",
    );
    await until(() => mine.heard.length >= 2);
    assert.deepEqual(others.heard, []);
    assert.doesNotMatch(JSON.stringify(mine.heard), /LIES|program/);
  });

  it("is believed for the whole fleet once a machine with another role says the same", async () => {
    const [mine, others] = [await fleet.run("r1"), await fleet.run("r2")];
    await lines("CREATE ROLE skein_second LOGIN");
    for (const grant of [
      "GRANT USAGE ON SCHEMA skein TO skein_second",
      "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA skein TO skein_second",
    ])
      await lines(grant);
    await lines("INSERT INTO $S.machine VALUES ('skein_second', 'second', now() + interval '1 day')");
    const again = await fleet.joined("liar-2");
    const first = await fleet.joined("liar-1");
    const refuse = "SELECT skein.refuse($1, 'a', 'quota', 60000, '{}')";
    for (const [n, liar] of [first, again].entries()) {
      await mine.offer(n + 1);
      await liar.ask(refuse, [await liar.take()]);
    }
    const forAll = "SELECT count(*)::int AS n FROM $S.account WHERE run IS NULL";
    assert.deepEqual(await lines(forAll), [{ n: 0 }], "two names of one role are one voice");
    const address = new URL(fleet.workers);
    address.username = "skein_second";
    const second = await fleet.session(address.href, "second");
    const [token, permit] = [randomUUID(), randomUUID()];
    await second.ask("SELECT skein.worker_join('second', $1, '{}', 1, '1')", [token]);
    await mine.offer(3);
    await second.ask("SELECT skein.worker_take($1, $2, 0)", [permit, token]);
    await second.ask(refuse, [permit]);
    assert.deepEqual(await lines(forAll), [{ n: 1 }]);
    await until(() => others.heard.length > 0);
    await lines("DROP OWNED BY skein_second");
    await lines("DROP ROLE skein_second");
  });

  it("spends nothing past a budget by calls of 0 tokens, and reserves and reports no more than a job needs", async () => {
    const { offer } = await fleet.run("r1", ["a"], 1_000);
    const liar = await fleet.joined("liar");
    await offer(1);
    const permit = await liar.take();
    const admit = async (tokens: number) =>
      (await liar.ask("SELECT * FROM skein.admit($1, gen_random_uuid(), '{a}', $2, NULL)", [permit, tokens]))
        .rows[0];
    const counted = await Array.fromAsync({ length: 70 }, () => admit(0));
    assert.equal(counted.filter((one) => one.is === "admitted").length, 64, "so many at once");
    assert.deepEqual(await lines("SELECT used_tokens FROM $S.job"), [{ used_tokens: "64" }], "each counts");
    await lines("DELETE FROM $S.reservation");
    await lines("UPDATE $S.job SET used_tokens = 1000");
    assert.equal((await admit(0)).is, "refused", "the budget is spent");
    for (let i = 0; i < 300; i += 1)
      await liar.ask('SELECT skein.worker_report($1, \'{"is": "x"}\')', [permit]);
    const [reports] = await lines("SELECT reports FROM $S.job");
    assert.ok(Number(reports?.["reports"]) <= 65, JSON.stringify(reports));
  });

  it("writes no file but those of its job", async () => {
    const { offer } = await fleet.run("r1");
    const liar = await fleet.joined("liar");
    await offer(1);
    const permit = await liar.take();
    const write = async (file: string) =>
      (await liar.ask("SELECT skein.worker_write($1, $2, 0, 'x') AS wrote", [permit, file])).rows[0].wrote;
    for (const file of [
      ...["kit.json", "turns/work-t.2-1/handoff.json", "turns/work-t.1-11.said.json", "turns/work-t.1-1"],
      ...["transcripts/work_t.2_1-0123abcd.log", "transcripts/../kit.json", "gates/land-1.jsonl"],
      ...["conversations/plan-t.jsonl", "conversations/work-t.2-1.jsonl", "scratchpad/their-result.md"],
      ...["artefacts/nice-name.txt", "x\nturns/work-t.1-1/y", "turns/work-t.1-1/../../kit.json"],
    ])
      assert.equal(await write(file), false, file);
    for (const file of [
      ...["turns/work-t.1-1/handoff.json", "turns/work-t.1-1.said.json", "turns/work-t.1-1.0.bundle"],
      ...[
        "transcripts/work_t.1_1-0123abcd.log",
        "transcripts/work_t.1_1_2.1-0123abcd.log",
        "gates/work-t.1-1.jsonl",
      ],
      ...["conversations/work-t.1-1.jsonl", "artefacts/0123456789abcdef.txt"],
    ])
      assert.equal(await write(file), true, file);
    await lines("UPDATE $S.file SET job = 'work:t.9#1', body = 'theirs' WHERE path LIKE 'artefacts/%'");
    assert.equal(await write("artefacts/0123456789abcdef.txt"), true);
    assert.deepEqual(
      await lines("SELECT convert_from(body, 'UTF8') AS body FROM $S.file WHERE path LIKE 'artefacts/%'"),
      [{ body: "theirs" }],
    );
  });

  it("opens only so many connections, and makes no temporary table", async () => {
    const liar = await fleet.session();
    assert.equal(await codeOf(liar.ask("CREATE TEMPORARY TABLE big (x int)")), "42501");
    const [limit] = await lines("SELECT rolconnlimit AS n FROM pg_roles WHERE rolname = 'skein_worker'");
    assert.ok(Number(limit?.["n"]) > 0 && Number(limit?.["n"]) < 200, JSON.stringify(limit));
  });
});
