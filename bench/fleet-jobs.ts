/** Measures how many jobs per second a fleet handles, compared with pg-boss alone with empty jobs. */
import { setTimeout as pause } from "node:timers/promises";
import { PgBoss } from "pg-boss";
import { Database } from "../src/adapters/fleet/database.ts";
import { FleetOffers } from "../src/adapters/job-queues/fleet-offers.ts";
import { FleetSource } from "../src/adapters/job-queues/fleet-source.ts";
import type { JobId } from "../src/core/job.ts";
import { hasFailed } from "../src/core/result.ts";
import { median } from "./measure.ts";

export type JobFigures = {
  readonly alonePerSecond: number;
  readonly fleetPerSecond: number;
  /** From the offer until the answer arrives, on an idle fleet, one job at a time. */
  readonly latencyMs: number;
  /** Postgres transactions per job, including heartbeats and supervision. */
  readonly statementsPerJob: number;
};

/** Gate jobs belong to a landing. */
const LANDING = "land:1" as JobId;
const WORKERS = 20;
const JOBS = 600;
const SINGLE = 30;
const ROUNDS = 5;

/** `url`: a database with a fleet's schema. */
export async function measureJobs(url: string): Promise<JobFigures> {
  const fleet = await openFleet(url);
  await alone(url, 100); // Warm-up.
  await fleet.run(100);
  const [aloneTimes, fleetTimes]: [number[], number[]] = [[], []];
  const before = await fleet.transactions();
  for (let round = 0; round < ROUNDS; round += 1) fleetTimes.push(await fleet.run(JOBS));
  const statementsPerJob = ((await fleet.transactions()) - before) / (ROUNDS * JOBS);
  // In turns, because the machine may be busy with something else for a while.
  for (let round = 0; round < ROUNDS; round += 1) {
    aloneTimes.push(await alone(url, JOBS));
    fleetTimes.push(await fleet.run(JOBS));
  }
  const [aloneMs, fleetMs] = [median(aloneTimes), median(fleetTimes.slice(ROUNDS))];
  let singleMs = 0;
  for (let i = 0; i < SINGLE; i += 1) singleMs += await fleet.run(1);
  await fleet.close();
  const perSecond = (ms: number) => (1000 * JOBS) / ms;
  return {
    alonePerSecond: perSecond(aloneMs),
    fleetPerSecond: perSecond(fleetMs),
    latencyMs: singleMs / SINGLE,
    statementsPerJob,
  };
}

async function alone(url: string, count: number): Promise<number> {
  const boss = new PgBoss({ connectionString: url, schema: "alone", max: WORKERS, schedule: false });
  await boss.start();
  if (!(await boss.getQueue("q"))) await boss.createQueue("q", { partition: true });
  let done = 0;
  const begun = performance.now();
  await boss.insert(
    "q",
    Array.from({ length: count }, () => ({ data: {} })),
  );
  const lane = async () => {
    while (done < count) {
      const [job] = await boss.fetch("q");
      if (!job) {
        await pause(5);
        continue;
      }
      await boss.complete("q", job.id, {});
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, lane));
  const ms = performance.now() - begun;
  await boss.stop({ graceful: false });
  return ms;
}

async function openFleet(url: string) {
  const database = new Database({ url, schema: "skein", maxConnections: WORKERS });
  const run = "bench";
  const rows = await database.ask<{ readonly id: string }>(
    `INSERT INTO $S.run (repository, name, key, record, created_at)
     VALUES ('bench', $1, gen_random_uuid(), '{}', 0) RETURNING id`,
    [run],
  );
  if (hasFailed(rows)) throw new Error(rows.failure.message);
  const runId = rows[0]!.id;
  const offers = new FleetOffers({
    ...{ database, run, runId, fence: 0, onQuiet: () => {}, onTaken: () => {}, onReturned: () => {} },
    termsOf: async () => ({ countsIn: [], limitedBy: [] }),
  });
  const stop = new AbortController();
  const sources = await Promise.all(
    Array.from({ length: WORKERS }, (_, i) =>
      FleetSource.open({ database, name: `bench-${i}`, labels: [], capacity: 1, version: "bench" }),
    ),
  );
  const serve = async (source: FleetSource) => {
    for (let taken = await source.next(stop.signal); taken; taken = await source.next(stop.signal))
      await taken.answer({ is: "gated", gated: { report: { commands: [] }, problems: [], tail: "" } });
  };
  const open = sources.filter((source): source is FleetSource => !hasFailed(source));
  if (open.length < WORKERS) throw new Error("a worker could not join");
  const serving = open.map(serve);
  let number = 0;
  return {
    /** Milliseconds from the first offer to the last answer. */
    run: async (count: number): Promise<number> => {
      const begun = performance.now();
      const answers = Array.from({ length: count }, async () => {
        number += 1;
        const job = `gate:bench/${number}` as JobId;
        const { promise, resolve } = Promise.withResolvers<unknown>();
        offers.follow(job, resolve, LANDING);
        const tree = { job, commit: "0".repeat(40), rules: "0".repeat(40) };
        const offered = await offers.offer({
          job,
          needs: [],
          what: { is: "gate", tree },
          labels: [],
          priority: 1,
        });
        if (offered !== "offered") throw new Error(offered.failure.message);
        return promise;
      });
      await Promise.all(answers);
      return performance.now() - begun;
    },
    transactions: async (): Promise<number> => {
      await pause(1_100); // Postgres updates its statistics once a second.
      const found = await database.ask<{ readonly n: string }>(
        "SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()",
      );
      return hasFailed(found) ? 0 : Number(found[0]!.n);
    },
    close: async () => {
      stop.abort();
      await Promise.all(serving);
      for (const source of open) await source[Symbol.asyncDispose]();
      await offers.close();
      await database.close();
    },
  };
}
