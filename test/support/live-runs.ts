/** How does a test run a goal for real? A repository, a script for the agents, and the same parts as the command. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createRun, openProject, type Project, type RunOptions, startRun } from "../../src/compose.ts";
import { type Config, readConfig } from "../../src/config/index.ts";
import type { Script } from "../../src/core/agent-script.ts";
import type { Event } from "../../src/core/event.ts";
import type { RunState } from "../../src/core/state.ts";
import type { EngineEnd } from "../../src/engine/engine.ts";
import { hasFailed } from "../../src/ports/repository.ts";
import type { RunHome } from "../../src/ports/runs.ts";
import { type Files, makeRepository, type TestRepository } from "./repositories.ts";

export type Setting = AsyncDisposable & {
  readonly repository: TestRepository;
  /** Outside the repository; gone with the setting. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly project: Project;
  config(flags?: Readonly<Record<string, unknown>>): Config;
};

export type SettingOptions = { readonly files: Files; readonly script?: Script; readonly name?: string };

export async function makeSetting({ files, script, name }: SettingOptions): Promise<Setting> {
  const repository = await makeRepository({ files, ...(name === undefined ? {} : { name }) });
  const folder = await mkdtemp(path.join(tmpdir(), "skein-state-"));
  const scriptFile = path.join(folder, "script.json");
  await writeFile(scriptFile, JSON.stringify(script ?? { plans: {}, work: {} }));
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, SKEIN_STATE_DIR: path.join(folder, "state") };
  const project = await openProject(repository.folder, env, SOON());
  assert.ok(!hasFailed(project), "failure" in project ? project.failure.message : "");
  return {
    repository,
    folder,
    env,
    project,
    config: (flags = {}) => configOf({ agent: { kind: "scripted", script: scriptFile }, ...flags }),
    [Symbol.asyncDispose]: async () => {
      await repository[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

export function configOf(flags: Readonly<Record<string, unknown>>): Config {
  const read = readConfig({ env: {}, sets: [], flags });
  assert.ok("config" in read, JSON.stringify(read));
  return read.config;
}

export type Finished = {
  readonly home: RunHome;
  readonly end: EngineEnd;
  readonly events: readonly Event[];
  readonly target: string;
};

/** From a goal to the end of the engine. */
export async function runGoal(
  { project, repository, env }: Setting,
  config: Config,
  options: DriveOptions & { readonly goal?: string } = {},
): Promise<Finished> {
  const { head, branch } = project.located;
  const home = await createRun(project, {
    goal: options.goal ?? "make it",
    base: head,
    ...(branch === undefined ? {} : { baseBranch: branch }),
    config,
  });
  assert.ok(!hasFailed(home), "failure" in home ? home.failure.message : "");
  const end = await drive({ project, env }, home, config, options);
  const target = `skein/${home.record.run}/target`;
  await repository.git("rev-parse", "--verify", target);
  return { home, end, events: await eventsOf(home), target };
}

export async function drive(
  { project, env }: Pick<Setting, "project" | "env">,
  home: RunHome,
  config: Config,
  { watch, stopAt, onRestored }: DriveOptions = {},
): Promise<EngineEnd> {
  let stop = () => {};
  const seen: RunOptions["watch"] = (event, state) => {
    watch?.(event, state);
    if (stopAt?.(event)) stop();
  };
  const options = { config, env, watch: seen, ...(onRestored && { onRestored }) };
  const live = await startRun(project, home, options, SOON());
  assert.ok(!hasFailed(live), "failure" in live ? live.failure.message : "");
  stop = live.stopNow;
  return live.ended;
}

/** `stopAt`: the event after which the engine is told to stop at once. */
export type DriveOptions = {
  readonly watch?: RunOptions["watch"];
  readonly stopAt?: (event: Event) => boolean;
  readonly onRestored?: RunOptions["onRestored"];
};

export async function eventsOf(home: RunHome): Promise<readonly Event[]> {
  return Array.fromAsync(home.log.read(0));
}

/** "done" or how else the run closed, with what is left. */
export function closing(end: EngineEnd): string {
  if (end.is === "lost") return `lost: ${end.failure.message}`;
  const { closed } = end.state;
  return closed ? [closed.how, ...closed.left].join("; ") : end.is;
}

/** By the planners' names: what became of each task. */
export const endings = (state: RunState): Record<string, string> =>
  Object.fromEntries([...state.tasks.values()].map(({ spec, state: { is } }) => [spec.key, is]));

export const readText = (file: string) => readFile(file, "utf8");

const SOON = () => AbortSignal.timeout(30_000);
