/** Builds the looks of `skein doctor --worker`, for a machine that is to work for a fleet. */
import { inspectFleet } from "../adapters/inspect/fleet.ts";
import { inspectGit } from "../adapters/inspect/repository.ts";
import { inspectDisk } from "../adapters/inspect/state.ts";
import { stateRoot } from "../adapters/runs/state-folder.ts";
import type { WorkerLooks } from "../app/inspect/worker.ts";
import type { Config } from "../config/schema.ts";
import type { Environment } from "../ports/project.ts";
import { looksOf } from "./planning.ts";

export const workerLooks = (
  env: Environment,
  { fleet }: Config,
  folder: string,
  signal: AbortSignal,
): WorkerLooks => ({
  ...{ env, folder, agents: looksOf(env) },
  fleet: () => inspectFleet(env, fleet, folder, signal),
  git: () => inspectGit(folder, signal),
  disk: async () => {
    const root = stateRoot(env);
    return typeof root === "string" ? ((await inspectDisk(root)) ?? inspectDisk(folder)) : undefined;
  },
});
