/** Measures a fleet beside its parts: jobs, takeovers, objects, statements, and 1,000 simulated machines. */
import { loadavg } from "node:os";
import { initFleet } from "../src/compose/fleet.ts";
import { configOf } from "../test/support/live-runs.ts";
import { TestPostgres } from "../test/support/postgres.ts";
import { byPriority, idealMakespanMs } from "./engine-ideal.ts";
import { execute, WORKLOADS } from "./engine-workload.ts";
import { measureHeartbeats } from "./fleet-heartbeats.ts";
import { type JobFigures, measureJobs } from "./fleet-jobs.ts";
import { measureObjects } from "./fleet-objects.ts";
import { measureTakeovers } from "./fleet-takeovers.ts";
import { type Bench, type BenchReport, type Limit, rounded, type Table } from "./measure.ts";

export const fleetBench: Bench = { name: "fleet", run };

type Part = { readonly table: Table; readonly limits: readonly Limit[] };

async function run(): Promise<BenchReport> {
  const alive = setInterval(() => {}, 60_000); // Neither Postgres nor its clients keep this process alive.
  const parts = await measure().finally(() => clearInterval(alive));
  return {
    title: `fleet: a real Postgres and a bare remote on this machine (load ${rounded(loadavg()[0]!)})`,
    tables: parts.map(({ table }) => table),
    limits: parts.flatMap(({ limits }) => limits),
  };
}

async function measure(): Promise<readonly Part[]> {
  await using postgres = await TestPostgres.start();
  const url = await postgres.newDatabase();
  await initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet);
  const jobs = await measureJobs(url);
  const heartbeats = await heartbeatsPart(postgres, url);
  return [jobsPart(jobs), heartbeats, await objectsPart(), await takeoversPart(), await virtualPart(jobs)];
}

function jobsPart({ alonePerSecond, fleetPerSecond, latencyMs, statementsPerJob }: JobFigures): Part {
  return {
    table: {
      title: "empty jobs through 20 workers: dispatch, start, answer",
      rows: [
        {
          "pg-boss alone, jobs/s": rounded(alonePerSecond),
          "fleet, jobs/s": rounded(fleetPerSecond),
          "one job on an idle fleet, ms": rounded(latencyMs),
          "transactions per job": rounded(statementsPerJob),
        },
      ],
    },
    limits: [
      {
        claim: "time for a job of the fleet, times that of pg-boss alone",
        measured: alonePerSecond / fleetPerSecond,
        max: 1.5,
      },
    ],
  };
}

async function heartbeatsPart(postgres: TestPostgres, url: string): Promise<Part> {
  const { workers, beatsPerSecond, cores } = await measureHeartbeats(postgres, url);
  const row = {
    workers,
    "signs of life per s": rounded(beatsPerSecond),
    "cores of Postgres": cores.toFixed(2),
  };
  return { table: { title: "workers with one job each, for one minute", rows: [row] }, limits: [] };
}

async function objectsPart(): Promise<Part> {
  const { firstMirrorMs, toWorkerMs, toWorkerBytes, backMs, backBytes } = await measureObjects();
  return {
    table: {
      title: "a change of 3 files in a repository of 20,000",
      rows: [
        { way: "first mirror", ms: rounded(firstMirrorMs), bytes: "all" },
        { way: "to a worker", ms: rounded(toWorkerMs), bytes: toWorkerBytes },
        { way: "back, taken", ms: rounded(backMs), bytes: backBytes },
      ],
    },
    limits: [],
  };
}

async function takeoversPart(): Promise<Part> {
  const { workerMs, coordinatorMs } = await measureTakeovers();
  return {
    table: {
      title: "kill -9 until another machine goes on",
      rows: [
        { of: "a worker: its job is begun again", s: rounded(workerMs / 1000) },
        { of: "the coordinator: another writes its first event", s: rounded(coordinatorMs / 1000) },
      ],
    },
    limits: [{ claim: "s until a dead worker's job is begun elsewhere", measured: workerMs / 1000, max: 20 }],
  };
}

const MACHINES = 1_000;
const TASKS = 10_000;

/** Each simulated job takes longer by the measured latency. */
async function virtualPart({ latencyMs }: JobFigures): Promise<Part> {
  const rows: Record<string, string>[] = [];
  let worst = 0;
  for (const [name, make] of Object.entries(WORKLOADS)) {
    const workload = make(TASKS, 7);
    const slowed = workload.map((task) => ({ ...task, ms: task.ms + latencyMs }));
    const { now } = await execute(slowed, MACHINES, "priority");
    const ofIdeal = now / idealMakespanMs(workload, MACHINES, byPriority(workload));
    worst = Math.max(worst, ofIdeal);
    rows.push({ workload: name, "makespan of ideal": ofIdeal.toFixed(4) });
  }
  return {
    table: { title: `${MACHINES} machines on the virtual clock, ${TASKS} tasks`, rows },
    limits: [{ claim: "makespan of 1,000 machines, times the ideal", measured: worst, max: 1.05 }],
  };
}
