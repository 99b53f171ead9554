/** Runs goals for real in tests: a repository, scripted agents, and the same parts as the command. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as begin from "../../src/app/begin-run.ts";
import { followRun, type RunEnding, type RunListeners } from "../../src/app/follow-run.ts";
import { partsOf } from "../../src/compose/parts.ts";
import { openProject } from "../../src/compose/project.ts";
import { type Config, readConfig } from "../../src/config/index.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { RunState } from "../../src/core/log/state.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { Script } from "../../src/ports/agent-script.ts";
import type { EventLog } from "../../src/ports/event-log.ts";
import type { Project } from "../../src/ports/project.ts";
import type { RunHome } from "../../src/ports/runs.ts";
import { type Files, makeRepository, type TestRepository } from "./repositories.ts";

export type Setting = AsyncDisposable & {
  readonly repository: TestRepository;
  /** A folder outside of the repository, which is removed with the setting. */
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
  readonly end: RunEnding;
  readonly events: readonly Event[];
  readonly target: string;
};

/** Runs from a goal to the end of the engine. */
export async function runGoal(
  { project, repository, env }: Setting,
  config: Config,
  options: DriveOptions & { readonly goal?: string } = {},
): Promise<Finished> {
  const { head, branch } = project.located;
  const wanted = {
    goal: options.goal ?? "make it",
    base: head,
    ...(branch === undefined ? {} : { baseBranch: branch }),
    config,
  };
  const home = await createRun(project, wanted);
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
): Promise<RunEnding> {
  let stop = () => {};
  const seen: NonNullable<RunListeners["watch"]> = (event, state) => {
    watch?.(event, state);
    if (stopAt?.(event)) stop();
  };
  const options = { config, env, watch: seen, ...(onRestored && { onRestored }) };
  const live = await startRun(project, home, options, SOON());
  assert.ok(!hasFailed(live), "failure" in live ? live.failure.message : "");
  stop = live.stopNow;
  return live.ended;
}

/** A run without an engine. */
export const createRun = async (project: Project, wanted: Parameters<typeof begin.createRun>[0]) =>
  begin.createRun(wanted, partsOf(project, {}));

type StartOptions = RunListeners & {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Wraps the log that the engine uses, to see or delay what is written. */
  readonly around?: (log: EventLog) => EventLog;
};

export async function startRun(
  project: Project,
  home: RunHome,
  { env, around, ...request }: StartOptions,
  signal: AbortSignal,
) {
  const run = around ? withLog(home, around(home.log)) : home;
  return followRun({ ...request, home: run }, partsOf(project, env), signal);
}

/** `stopAt`: tells at which event the engine is stopped at once. */
export type DriveOptions = {
  readonly watch?: RunListeners["watch"];
  readonly stopAt?: (event: Event) => boolean;
  readonly onRestored?: RunListeners["onRestored"];
};

export async function eventsOf(home: RunHome): Promise<readonly Event[]> {
  return Array.fromAsync(home.log.read(0));
}

/** How the run closed, such as "done", with what is left. */
export function closing(end: RunEnding): string {
  if (end.is === "lost") return `lost: ${end.failure.message}`;
  const { closed } = end.state;
  return closed ? [closed.how, ...closed.left].join("; ") : end.is;
}

/** The state of each task, by the name that its planner gave it. */
export const endings = (state: RunState): Record<string, string> =>
  Object.fromEntries([...state.tasks.values()].map(({ spec, state: { is } }) => [spec.key, is]));

export const readText = (file: string) => readFile(file, "utf8");

const SOON = () => AbortSignal.timeout(30_000);

const withLog = (home: RunHome, log: EventLog): RunHome => ({
  record: home.record,
  folder: home.folder,
  log: { ...log, follow: (after, signal) => home.log.follow(after, signal) },
  lock: () => home.lock(),
  isThere: () => home.isThere(),
  hasJobs: () => home.hasJobs(),
  owner: () => home.owner(),
  stop: (owner, isUrgent) => home.stop(owner, isUrgent),
});
