/** Opens the folder of a worker's mirror and runs: one process holds it, and removes what a killed one left. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../core/failure.ts";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Environment } from "../../ports/project.ts";
import { slugOf } from "../../text/slug.ts";
import { LocalPrograms } from "../programs/local.ts";
import { lockRun } from "../runs/run-lock.ts";
import { stateRoot } from "../runs/state-folder.ts";

/** `token`: with it the next process of this machine gets the same name at once, even if this one is killed. */
type WorkerFolder = {
  readonly folder: string;
  readonly token: string;
  readonly release: () => Promise<void>;
};

/** Allows one process for each name: two would take each other's workspaces. */
export async function openWorkerFolder(env: Environment, name: string): Promise<WorkerFolder | Failed> {
  const root = stateRoot(env);
  if (typeof root !== "string") return root;
  const folder = path.join(root, "workers", slugOf(name));
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    return failedWith("repository", `the worker's folder ${folder} cannot be made: ${messageOf(error)}`);
  }
  const lock = await lockRun(`of worker ${name}`, folder);
  if (hasFailed(lock)) return taken(name, lock);
  await cleanUp(folder);
  return { folder, token: await tokenIn(folder), release: lock.release };
}

async function tokenIn(folder: string): Promise<string> {
  const file = path.join(folder, "join-token");
  const kept = await readFile(file, "utf8").catch(() => ""); // Empty at the first start.
  if (/^[0-9a-f-]{36}$/.test(kept)) return kept;
  const token = randomUUID();
  await writeFile(file, token, { mode: 0o600 }).catch(() => {}); // A restart then waits for its name.
  return token;
}

const taken = (name: string, { failure: why }: Failed): Failed =>
  failedWith(
    "repository",
    `worker ${name} cannot begin: ${why.message}`,
    "free its folder, or use another --name",
  );

/** Ends an earlier process's programs and removes its workspaces. Its jobs have gone to other machines. */
async function cleanUp(folder: string): Promise<void> {
  const runs = path.join(folder, "runs");
  for (const run of await readdir(runs).catch(() => [])) {
    await new LocalPrograms({ folder: path.join(runs, run, "programs") }).endAll();
    await rm(path.join(runs, run), { recursive: true, force: true, maxRetries: 3 });
  }
  const mirrors = path.join(folder, "mirrors");
  const names = await readdir(mirrors, { recursive: true }).catch(() => []); // Missing at the first start.
  for (const name of names.filter((one) => one.endsWith(".lock")))
    await rm(path.join(mirrors, name), { force: true });
}
