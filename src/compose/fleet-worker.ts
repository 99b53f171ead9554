/** Opens a fleet's worker on this machine: a mirror of the remote, and for each run the parts of its jobs. */
import os from "node:os";
import path from "node:path";
import { filesToGoOn } from "../adapters/agents/turn-files.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import type { Database } from "../adapters/fleet/database.ts";
import { FleetGovernor } from "../adapters/fleet/governor.ts";
import { machineName } from "../adapters/fleet/machine-name.ts";
import { openDatabase } from "../adapters/fleet/open-database.ts";
import { KIT_PROMPTS, readKit, unpackKit } from "../adapters/fleet/run-kit.ts";
import { WorkerFiles } from "../adapters/fleet/worker-files.ts";
import { openWorkerFolder } from "../adapters/fleet/worker-folder.ts";
import { WorkerReports } from "../adapters/fleet/worker-reports.ts";
import { workerStore } from "../adapters/fleet/worker-store.ts";
import { inspectGit } from "../adapters/inspect/repository.ts";
import { FleetSource } from "../adapters/job-queues/fleet-source.ts";
import { Mirror } from "../adapters/objects/mirror.ts";
import { changedAt } from "../adapters/workspaces/changed-at.ts";
import { Benches } from "../app/serve-jobs.ts";
import type { Config } from "../config/schema.ts";
import { quietOf } from "../config/to-parts.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { OfferedJob } from "../ports/fleet-jobs.ts";
import type { Environment } from "../ports/project.ts";
import { slugOf } from "../text/slug.ts";
import { openJobs } from "./jobs.ts";

type WorkerOptions = {
  readonly name?: string;
  readonly labels: readonly string[];
  readonly capacity: number;
  readonly schema: string;
  readonly version: string;
  /** Never push: work is handed in through the database. */
  readonly bundle: boolean;
  /** Applies this machine's settings to the run's configuration. */
  readonly configOf: (settings: unknown) => Config | Failed;
};

/** Joins the fleet. When it is disposed of, it leaves, and nothing of it runs. */
export async function openWorker(options: WorkerOptions, env: Environment, signal: AbortSignal) {
  await using stack = new AsyncDisposableStack();
  const named = await machineName(options, env);
  if (hasFailed(named)) return named;
  const { name } = named;
  const database = openDatabase(env, { ...options, machine: name });
  if (hasFailed(database)) return database;
  stack.use(database);
  const unfit = await gitProblem(signal);
  if (unfit) return unfit;
  const own = await openWorkerFolder(env, name);
  if (hasFailed(own)) return own;
  stack.defer(() => own.release());
  const { folder } = own;
  const benches = stack.use(
    new Benches((offered) => openRun(offered, { ...options, database, env, folder, signal })),
  );
  const source = await FleetSource.open({ ...options, database, name, token: own.token, signal });
  if (hasFailed(source)) return source;
  stack.use(source);
  const open = stack.move();
  return {
    ...{ name, folder, source },
    benchOf: (offered: OfferedJob) => benches.of(offered),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function gitProblem(signal: AbortSignal): Promise<Failed | undefined> {
  const git = await inspectGit(os.tmpdir(), signal);
  if (hasFailed(git)) return git;
  return git.problem && { failure: git.problem };
}

type RunOptions = WorkerOptions & {
  readonly database: Database;
  readonly env: Environment;
  readonly folder: string;
  readonly signal: AbortSignal;
};

async function openRun({ runId, permit }: OfferedJob, options: RunOptions) {
  const { database, folder, signal } = options;
  const at = path.join(folder, "runs", slugOf(runId));
  const files = new WorkerFiles(database, at);
  const kit = await readKit(files, permit);
  if (hasFailed(kit)) return kit;
  const config = options.configOf(kit.record.settings);
  if (hasFailed(config)) return config;
  const mirror = await Mirror.open(path.join(folder, "mirrors"), kit.remote, signal);
  if (hasFailed(mirror)) return mirror;
  const top = path.join(at, "kit");
  await unpackKit(kit, top);
  const { gitDir } = mirror;
  const clock = systemClock();
  const teller = new WorkerReports(database);
  const governor = new FleetGovernor({ database, run: runId, clock, permitOf: teller.permitOf });
  const { CLAUDE_SCRATCHPAD_DIR: _, SKEIN_FLEET_URL: __, ...env } = options.env;
  const opened = openJobs({
    ...{ env, secretsIn: options.env, top, clock, governor },
    project: {
      located: { top: gitDir, gitDir, head: kit.record.base, notices: async () => [] },
      stateFolder: `${gitDir}.state`,
    },
    home: { record: kit.record, folder: at },
    config: config.prompts === undefined ? config : { ...config, prompts: KIT_PROMPTS },
    signs: {
      ...{ clock, changedAt, quiet: quietOf(config), tell: teller.tell },
      waitedMs: (job) => governor.waitedMs(job),
    },
    checkoutChanged: () => {}, // A mirror has no checkout.
  });
  const { jobs, programs, workspaces, stack } = opened;
  stack.defer(async () => void (await workspaces.close()));
  stack.defer(async () => void (await programs.endAll()));
  const failure = await opened.unready();
  if (failure) {
    await stack.disposeAsync();
    return { failure };
  }
  const isPushing = kit.push && !options.bundle;
  const { maxBundleBytes } = kit;
  const store = workerStore({ mirror, files, ...(!isPushing && { maxBundleBytes }) });
  return { jobs, store, begin: teller.begin, filesFor: filesToGoOn, close: () => stack.disposeAsync() };
}
