/** Measures moving a change of three files, in a repository with 20,000, to a worker and back. */
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { JobObjects } from "../src/adapters/objects/job-objects.ts";
import { Mirror } from "../src/adapters/objects/mirror.ts";
import { outputRef } from "../src/adapters/objects/names.ts";
import { GitRemote } from "../src/adapters/objects/remote.ts";
import { RemoteTarget } from "../src/adapters/objects/remote-target.ts";
import { hasFailed } from "../src/core/result.ts";
import { newFolder } from "../test/support/folders.ts";

export type ObjectFigures = {
  readonly firstMirrorMs: number;
  readonly toWorkerMs: number;
  readonly toWorkerBytes: number;
  readonly backMs: number;
  readonly backBytes: number;
};

const FILES = 20_000;
const RUN = "bench";
const TARGET = "skein/bench/target";
const NEVER = new AbortController().signal;

export async function measureObjects(): Promise<ObjectFigures> {
  const folder = newFolder();
  const [here, remote] = [path.join(folder, "here"), path.join(folder, "remote.git")];
  mkdirSync(here);
  const git = (cwd: string, ...args: readonly string[]) =>
    execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  git(folder, "init", "-q", "--bare", remote);
  git(here, "init", "-q", "-b", "main");
  for (const [key, value] of Object.entries({ "user.name": "B", "user.email": "b@example.invalid" }))
    git(here, "config", key, value);
  for (let i = 0; i < FILES; i += 1) {
    if (i % 200 === 0) mkdirSync(path.join(here, `d${i / 200}`));
    writeFileSync(path.join(here, `d${Math.floor(i / 200)}`, `f${i}.txt`), `file ${i}\n`.repeat(20));
  }
  git(here, "add", "-A");
  git(here, "commit", "-q", "-m", "first");
  const base = git(here, "rev-parse", "HEAD");
  const gitDir = path.join(here, ".git");
  const remoteGit = new GitRemote({ gitDir, remote });
  const shared = new RemoteTarget({ gitDir, remote: remoteGit, run: RUN });
  const objects = new JobObjects({ gitDir, remote: remoteGit, shared, target: TARGET, run: RUN });
  await shared.make(TARGET, base, NEVER);
  const mirror = orThrow(await Mirror.open(path.join(folder, "mirrors"), remote, NEVER));
  const offer = async (job: string, commit: string) => {
    const needs = orThrow(await objects.offer(job, [commit], NEVER));
    const missing = await mirror.fetch(needs, NEVER);
    if (missing) throw new Error(missing.failure.message);
  };
  const firstMirrorMs = await timed(() => offer("work:t.1#1", base));
  const change = (name: string) => {
    for (const i of [1, 7_000, 15_000])
      writeFileSync(path.join(here, `d${Math.floor(i / 200)}`, `f${i}.txt`), `${name} ${i}\n`.repeat(20));
    git(here, "commit", "-q", "-am", name);
    return git(here, "rev-parse", "HEAD");
  };
  const bytesOf = (at: string, commit: string, without: string) => {
    const file = path.join(folder, "size.bundle");
    git(at, "branch", "-f", "size", commit);
    git(at, "bundle", "create", "-q", file, "size", `^${without}`);
    return statSync(file).size;
  };
  const there = change("there");
  const toWorkerMs = await timed(() => offer("work:t.1#2", there));
  const back = change("back");
  git(here, "push", "-q", mirror.gitDir, `${back}:refs/heads/made`); // Stands for a worker's push.
  git(here, "reset", "-q", "--hard", there);
  git(here, "reflog", "expire", "--expire=now", "--all");
  git(here, "prune", "--expire=now");
  const ref = outputRef(RUN, "work:t.1#2", 0);
  const backMs = await timed(async () => {
    const unsent = await mirror.push(ref, back, NEVER);
    const untaken = await objects.take({ ref, commit: back, known: [there] }, ["refs/heads/got"], NEVER);
    const failed = unsent ?? untaken;
    if (failed) throw new Error(failed.failure.message);
  });
  return {
    ...{ firstMirrorMs, toWorkerMs, backMs },
    toWorkerBytes: bytesOf(here, there, base),
    backBytes: bytesOf(here, back, there),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function orThrow<T extends object>(result: T): Exclude<T, { failure: unknown }> {
  if (hasFailed(result)) throw new Error(result.failure.message);
  return result as Exclude<T, { failure: unknown }>;
}
