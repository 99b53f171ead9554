/** Where does a worker keep its mirror and its runs? In a folder that one process has, cleaned of what a killed one left. */
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

/** `token`: with it the next process of this machine has the same name at once, also if this one is killed. */
type WorkerFolder = {
  readonly folder: string;
  readonly token: string;
  readonly release: () => Promise<void>;
};

/** One process for each name: two would give each other's workspaces away. */
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
  const kept = await readFile(file, "utf8").catch(() => ""); // The first time.
  if (/^[0-9a-f-]{36}$/.test(kept)) return kept;
  const token = randomUUID();
  await writeFile(file, token, { mode: 0o600 }).catch(() => {}); // Then a restart waits until its name is free.
  return token;
}

const taken = (name: string, { failure: why }: Failed): Failed =>
  failedWith(
    "repository",
    `worker ${name} cannot begin: ${why.message}`,
    "free its folder, or use another --name",
  );

/** Its programs are ended, its workspaces removed. Its jobs are other machines' by now. */
async function cleanUp(folder: string): Promise<void> {
  const runs = path.join(folder, "runs");
  for (const run of await readdir(runs).catch(() => [])) {
    await new LocalPrograms({ folder: path.join(runs, run, "programs") }).endAll();
    await rm(path.join(runs, run), { recursive: true, force: true, maxRetries: 3 });
  }
  const mirrors = path.join(folder, "mirrors");
  const names = await readdir(mirrors, { recursive: true }).catch(() => []); // The first time.
  for (const name of names.filter((one) => one.endsWith(".lock")))
    await rm(path.join(mirrors, name), { force: true });
}
