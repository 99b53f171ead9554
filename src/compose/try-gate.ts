/** What does the gate say about a commit, and does it look at it at all? Really run, once, in a fresh workspace. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { FolderRuns } from "../adapters/runs/folder-runs.ts";
import { newRunName } from "../adapters/runs/run-record.ts";
import { giveBackAll } from "../app/leftovers.ts";
import type { Config } from "../config/schema.ts";
import { failure, messageOf } from "../core/failure.ts";
import { isGreen, type Probed } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { GateRun } from "../ports/gate.ts";
import { NOBODY } from "./agents.ts";
import type { Environment, Project } from "./project.ts";
import { openWorld } from "./world.ts";

export type GateTried = {
  readonly run: GateRun;
  readonly tookMs: number;
  /** Only of a gate that is green. */
  readonly probed?: Probed;
};

/** In a home of its own beside the runs, which is gone afterwards: no run is made of it. */
export async function tryGate(
  project: Project,
  { config, env, commit }: { readonly config: Config; readonly env: Environment; readonly commit: string },
  signal: AbortSignal,
): Promise<GateTried | Failed> {
  let folder: string | undefined;
  try {
    await mkdir(project.stateFolder, { recursive: true, mode: 0o700 });
    folder = await mkdtemp(path.join(project.stateFolder, "doctor-"));
    const run = newRunName(new Date(), Math.random);
    const record = { run, goal: "", base: commit, createdAt: Date.now(), settings: {} };
    const home = await new FolderRuns({ folder }).create(record);
    if (hasFailed(home)) return home;
    const world = openWorld(project, env, home, { config, agents: { worker: NOBODY, planner: "none" } });
    try {
      return await runAndProbe(world.jobs.gate, commit, signal);
    } finally {
      await world.settle();
      await giveBackAll(world);
      await world.close();
    }
  } catch (error) {
    return { failure: failure("repository", `the gate could not be tried: ${messageOf(error)}`) };
  } finally {
    if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runAndProbe(
  gate: ReturnType<typeof openWorld>["jobs"]["gate"],
  commit: string,
  signal: AbortSignal,
): Promise<GateTried | Failed> {
  const tree = { job: "doctor" as JobId, commit, rules: commit, isBase: true } as const;
  const start = performance.now();
  const run = await gate.run(tree, signal);
  if (hasFailed(run)) return run;
  const tookMs = performance.now() - start;
  if (run.setup || !isGreen(run.report)) return { run, tookMs };
  const probed = await gate.probe(tree, run.report, signal);
  return hasFailed(probed) ? probed : { run, tookMs, probed };
}
