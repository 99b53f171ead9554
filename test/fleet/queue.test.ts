/** Tests the fleet's job queue over a real Postgres: each job goes to one suitable machine, and counts once. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Database } from "../../src/adapters/fleet/database.ts";
import { FleetOffers } from "../../src/adapters/job-queues/fleet-offers.ts";
import { FleetSource } from "../../src/adapters/job-queues/fleet-source.ts";
import type { JobEnding } from "../../src/adapters/job-queues/job-ending.ts";
import { initFleet } from "../../src/compose/fleet.ts";
import type { JobId } from "../../src/core/job.ts";
import { hasFailed } from "../../src/core/result.ts";
import { GATE_PRIORITY, type JobResult, type TakenJob } from "../../src/ports/fleet-jobs.ts";
import { configOf } from "../support/live-runs.ts";
import { newDatabase } from "../support/postgres.ts";

const LIMIT = { timeout: 60_000 };
const DONE: JobResult = { is: "gated", gated: { report: { commands: [] }, problems: [], tail: "a\u0000b" } };

describe("the queue of a fleet", LIMIT, () => {
  let url: string;
  let database: Database;
  const open: (AsyncDisposable | FleetOffers)[] = [];
  const names = new Map<FleetSource, string>();
  let runs = 0;

  before(async () => {
    url = await newDatabase();
    database = new Database({ url, schema: "skein", maxConnections: 8 });
    const made = await initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet);
    assert.ok(!hasFailed(made), JSON.stringify(made));
  });

  after(async () => {
    for (const one of open) await (one instanceof FleetOffers ? one.close() : one[Symbol.asyncDispose]());
    await database.close();
  });

  /** A coordinator of a run of its own, so that tests do not meet; `again`: a second coordinator of the same run. */
  async function coordinator(again?: { readonly runId: string; readonly fence: number }) {
    runs += 1;
    const run = `r${runs}`;
    const made = again ? [{ id: again.runId }] : await newRun(run);
    const options = { database, run, runId: made[0]!.id, fence: again?.fence ?? 0 };
    const told: string[] = [];
    let news = Promise.withResolvers<void>();
    const hear = (text: string) => {
      told.push(text);
      news.resolve();
      news = Promise.withResolvers();
    };
    /** Wakes the coordinator now, which otherwise looks every two seconds. */
    const heard = async (count: number) => {
      await database.ask("SELECT pg_notify('$N:jobs:' || $1::text, '')", [options.runId]);
      while (told.length < count) await news.promise;
    };
    const offers = new FleetOffers({
      ...{ ...options, onQuiet: () => {} },
      onTaken: (job, { machine, tries }) => hear(`${job} by ${machine}, ${tries}`),
      onReturned: (job) => hear(`${job} back`),
      termsOf: async () => ({ countsIn: [], limitedBy: [] }),
    });
    open.push(offers);
    const offer = (
      name: string,
      more: { readonly labels?: readonly string[]; readonly priority?: number } = {},
    ) => {
      const job = name as JobId;
      const tree = { job, commit: "0".repeat(40), rules: "0".repeat(40) };
      const { labels = [], priority = 1 } = more;
      return offers.offer({ job, needs: [], what: { is: "gate", tree }, labels, priority });
    };
    const ended = (name: string) => {
      const { promise, resolve } = Promise.withResolvers<JobEnding>();
      offers.follow(name as JobId, resolve);
      return promise;
    };
    return { offers, offer, ended, told, heard, runId: options.runId };
  }

  async function newRun(run: string): Promise<readonly { readonly id: string }[]> {
    const rows = await database.ask<{ readonly id: string }>(
      `INSERT INTO $S.run (repository, name, key, record, created_at)
       VALUES ('test', $1, gen_random_uuid(), '{}', 0) RETURNING id`,
      [run],
    );
    assert.ok(!hasFailed(rows), JSON.stringify(rows));
    return rows;
  }

  async function machine(...labels: readonly string[]): Promise<FleetSource> {
    runs += 1;
    const source = await FleetSource.open({
      ...{ database, name: `machine-${runs}`, labels, capacity: 1, version: "test" },
    });
    assert.ok(!hasFailed(source), JSON.stringify(source));
    open.push(source);
    names.set(source, `machine-${runs}`);
    return source;
  }

  const take = async (source: FleetSource): Promise<TakenJob> => {
    const taken = await source.next(AbortSignal.timeout(15_000));
    assert.ok(taken, "no job came");
    return taken;
  };
  const none = async (source: FleetSource) =>
    assert.equal(await source.next(AbortSignal.timeout(300)), undefined);

  it("gives a job to one machine, whose answer is heard as it was said", async () => {
    const { offer, ended, told } = await coordinator();
    const [one, other] = [await machine(), await machine()];
    const end = ended("gate:a");
    assert.equal(await offer("gate:a"), "offered");
    const taken = await take(one);
    await none(other);
    assert.equal(taken.offered.job, "gate:a");
    assert.equal(await taken.answer(DONE), "taken");
    const heard = await end;
    assert.ok(heard.is === "answered");
    assert.deepEqual(heard.result, DONE);
    assert.deepEqual(told, [`gate:a by ${names.get(one)}, 0`]);
    assert.equal(await taken.answer(DONE), "taken", "an answer whose receipt was lost is sent again");
  });

  it("takes a second offer of the same job for none", async () => {
    const { offer } = await coordinator();
    const source = await machine();
    await offer("gate:b");
    await offer("gate:b");
    assert.equal(await (await take(source)).answer(DONE), "taken");
    await offer("gate:b");
    await none(source);
  });

  it("offers nothing once another coordinator has the lease", async () => {
    const { offer, runId } = await coordinator();
    await database.ask("UPDATE $S.run SET fence = fence + 1 WHERE id = $1", [runId]);
    const refused = await offer("gate:c");
    assert.ok(refused !== "offered");
    assert.match(refused.failure.message, /another coordinator/);
    await none(await machine());
  });

  it("gives the more urgent job first, and jobs that need labels only to machines that have them", async () => {
    const { offer } = await coordinator();
    await offer("gate:later", { priority: 1 });
    await offer("gate:sooner", { priority: 9 });
    await offer("gate:gpu", { labels: ["gpu"] });
    const plain = await machine("linux");
    const first = await take(plain);
    assert.equal(first.offered.job, "gate:sooner");
    await first.answer(DONE);
    const second = await take(plain);
    assert.equal(second.offered.job, "gate:later");
    await second.answer(DONE);
    await none(plain);
    const rich = await take(await machine("gpu", "linux"));
    assert.equal(rich.offered.job, "gate:gpu");
    await rich.answer(DONE);
  });

  it("reaches the machine within seconds when a job is cancelled, and refuses its answer", async () => {
    const { offers, offer, ended } = await coordinator();
    const source = await machine();
    const end = ended("gate:d");
    await offer("gate:d");
    const taken = await take(source);
    const lost = new Promise((resolve) => taken.lost.addEventListener("abort", resolve));
    const from = performance.now();
    await offers.cancel("gate:d");
    await lost;
    assert.ok(performance.now() - from < 8_000);
    assert.equal(await taken.answer(DONE), "late");
    assert.deepEqual(await end, { is: "cancelled", tries: 0, begun: true });
  });

  /** Does what the supervisor does after a missed heartbeat, and takes the job for another machine. */
  const loseTo = async (other: FleetSource, runId: string): Promise<TakenJob> => {
    await database.ask("UPDATE $J.job SET state = 'retry' WHERE data->>'runId' = $1", [runId]);
    return take(other);
  };

  it("refuses the answer of a try that is not the newest: the next one's counts", async () => {
    const { offer, ended, runId, told } = await coordinator();
    const [zombie, other] = [await machine(), await machine()];
    const end = ended("gate:e");
    await offer("gate:e");
    const old = await take(zombie);
    const taken = await loseTo(other, runId);
    assert.equal(taken.tries, 1);
    const write = ({ offered }: TakenJob) =>
      database.ask("SELECT $S.worker_write($1, 'turns/gate-e/x', 0, '')", [offered.permit]);
    assert.ok(hasFailed(await write(old)), "its permit is over");
    assert.ok(!hasFailed(await write(taken)));
    assert.equal(
      await old.answer({ is: "gated", gated: { report: { commands: [] }, problems: [], tail: "old" } }),
      "late",
    );
    assert.equal(await taken.answer(DONE), "taken");
    const heard = await end;
    assert.ok(heard.is === "answered" && heard.tries === 1);
    assert.deepEqual(heard.result, DONE);
    assert.equal(told.at(-1), `gate:e by ${names.get(other)}, 1`, "the coordinator heard who has it now");
  });

  it("counts what a machine used that lost the job, with its calls that were under way", async () => {
    const { offer, ended, runId } = await coordinator();
    const [dead, other] = [await machine(), await machine()];
    await database.ask("INSERT INTO $S.governed VALUES ($1, '{a}', 0, 0)", [runId]);
    const end = ended("gate:h");
    await offer("gate:h");
    const { permit } = (await take(dead)).offered;
    const admit = async (tokens: number) => {
      const rows = await database.ask<{ readonly id: string }>(
        "SELECT id FROM $S.admit($1, gen_random_uuid(), '{a}', $2, $2)",
        [permit, tokens],
      );
      assert.ok(!hasFailed(rows), JSON.stringify(rows));
      return rows[0]!.id;
    };
    await database.ask("SELECT $S.settle($1, $2, 70, 7)", [permit, await admit(100)]);
    await admit(50);
    await (await loseTo(other, runId)).answer(DONE);
    const unaccounted = { calls: 1, tokens: 50, microdollars: 50 };
    assert.deepEqual((await end).lost, { tokens: 70, microdollars: 7, unaccounted });
  });

  it("counts what the last machine used that died, or was called off and said nothing", async () => {
    const { offers, offer, ended, runId } = await coordinator();
    await database.ask("INSERT INTO $S.governed VALUES ($1, '{a}', 0, 0)", [runId]);
    const admit = async ({ offered }: TakenJob) =>
      database.ask("SELECT id FROM $S.admit($1, gen_random_uuid(), '{a}', 50, 50)", [offered.permit]);
    const used = { tokens: 0, microdollars: 0, unaccounted: { calls: 1, tokens: 50, microdollars: 50 } };
    const source = await machine();
    for (const [job, end] of [
      [
        "gate:dead",
        () => database.ask("UPDATE $J.job SET state = 'failed' WHERE data->>'job' = 'gate:dead'"),
      ],
      ["gate:off", () => offers.cancel("gate:off")],
    ] as const) {
      const heard = ended(job);
      await offer(job);
      const taken = await take(source);
      assert.ok(!hasFailed(await admit(taken)));
      await end();
      assert.deepEqual((await heard).used, used);
      const again = await admit(taken);
      assert.ok(hasFailed(again), "no model is called for it any more");
      await taken.answer(DONE);
    }
  });

  it("gives a lane for gates nothing else, and tells a coordinator when a machine loses its job", async () => {
    const { offer, ended, told, heard } = await coordinator();
    const source = await machine();
    const end = ended("work:t.1#1");
    await offer("work:t.1#1", { priority: 5 });
    assert.equal(await source.next(AbortSignal.timeout(300), "gate"), undefined);
    await offer("gate:j", { priority: GATE_PRIORITY });
    const gate = await source.next(AbortSignal.timeout(15_000), "gate");
    assert.equal(gate?.offered.job, "gate:j");
    await gate.answer(DONE);
    await take(source);
    await heard(1);
    await database.ask("UPDATE $J.job SET state = 'retry' WHERE data->>'job' = 'work:t.1#1'");
    await heard(2);
    await (await take(source)).answer(DONE);
    await end;
    assert.deepEqual(
      told.map((one) => one.replace(/ by machine-\d+/, "")),
      ["work:t.1#1, 0", "work:t.1#1 back", "work:t.1#1, 1"],
    );
  });

  it("tells another coordinator what became of jobs: answered, under way, unknown", async () => {
    const { offer, runId } = await coordinator();
    const source = await machine();
    await offer("gate:f");
    await (await take(source)).answer(DONE);
    await offer("gate:g");
    const next = await coordinator({ runId, fence: 0 });
    const found = await next.offers.find("gate:f");
    assert.ok(typeof found === "object" && "is" in found && found.is === "answered");
    assert.equal(await next.offers.find("gate:g"), "underway");
    assert.equal(await next.offers.find("gate:never"), "unknown");
    const end = next.ended("gate:g");
    await (await take(source)).answer(DONE);
    assert.equal((await end).is, "answered");
    await next.offers.cancelAll("gate:");
  });
});
