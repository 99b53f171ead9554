/** Makes a fleet for tests: a Postgres, a bare remote, coordinators and workers that share nothing else. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inFleet, initFleet } from "../../src/compose/fleet.ts";
import { openProject } from "../../src/compose/project.ts";
import type { Event } from "../../src/core/log/event.ts";
import { evolve } from "../../src/core/log/evolve.ts";
import { emptyState } from "../../src/core/log/state.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { Script } from "../../src/ports/agent-script.ts";
import type { RunHome } from "../../src/ports/runs.ts";
import { newFolder } from "../support/folders.ts";
import { configOf, endings, eventsOf } from "../support/live-runs.ts";
import { type Files, openRepository, plainEnvironment } from "../support/repositories.ts";

const SKEIN = fileURLToPath(new URL("../../bin/skein", import.meta.url));
const SOON = () => AbortSignal.timeout(20_000);

export type FleetPlace = AsyncDisposable & {
  readonly url: string;
  readonly remote: string;
  /** The database role of the workers. */
  readonly role: string;
  /** Makes a clone of the remote with a home and a state folder of its own, as on another machine. */
  machine(): Promise<Machine>;
  worker(...args: readonly string[]): Member;
};

export type Machine = {
  readonly folder: string;
  readonly clone: string;
  readonly env: NodeJS.ProcessEnv;
  skein(...args: readonly string[]): Member;
  /** The home of the fleet's only run. */
  home(): Promise<RunHome>;
};

/** A process of the fleet. */
export type Member = {
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly folder: string;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  says(text: string | RegExp): Promise<void>;
  isOver(): boolean;
  /** For a worker: the number of jobs that its output says it has taken and not answered. */
  jobsUnderway(): number;
};

type FleetPlaceOptions = {
  readonly url: string;
  readonly files: Files;
  /** The script of the agents; without one, the run's own agent answers. */
  readonly script?: Script;
  /** Variables of every machine's environment, besides the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
};

export async function makeFleetPlace(options: FleetPlaceOptions): Promise<FleetPlace> {
  const { url, files, script } = options;
  const folder = newFolder();
  const remote = path.join(folder, "remote.git");
  const seed = openRepository(path.join(folder, "seed"));
  mkdirSync(seed.folder);
  await seed.git("init", "-q", "-b", "main");
  for (const [key, value] of Object.entries(PERSON)) await seed.git("config", key, value);
  await seed.write(files);
  await seed.git("add", "-A");
  await seed.git("commit", "-q", "-m", "first", "--date=2026-01-01T00:00:00Z");
  await seed.git("clone", "-q", "--bare", ".", remote);
  const made = await initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet);
  assert.ok(!hasFailed(made), JSON.stringify(made));
  const all: Member[] = [];
  const machines: string[] = [];
  let workers = 0;
  const ownFolder = () => {
    const own = newFolder();
    mkdirSync(path.join(own, "home"));
    if (script) writeFileSync(path.join(own, "script.json"), JSON.stringify(script));
    return { own, env: { ...environmentIn(own, url), ...options.env } };
  };
  const started = (
    args: readonly string[],
    own: string,
    env: NodeJS.ProcessEnv,
    within: readonly string[] = [],
  ) => {
    const sayPid = ["sh", "-c", 'echo $$ > "$PID_FILE"; exec "$@"', "sh"];
    const member = start([...within, ...sayPid, process.execPath, SKEIN, ...args], own, env);
    all.push(member);
    return member;
  };
  return {
    url,
    remote,
    role: made.role,
    machine: async () => {
      const { own, env } = ownFolder();
      machines.push(own);
      const clone = path.join(own, "clone");
      await openRepository(own).git("clone", "-q", remote, clone);
      for (const [key, value] of Object.entries(PERSON))
        await openRepository(clone).git("config", key, value);
      return {
        ...{ folder: own, clone, env },
        skein: (...args) => started([...args, "--repo", clone, "--fleet"], own, env),
        home: () => homeIn(clone, env),
      };
    },
    worker: (...args) => {
      workers += 1;
      const { own, env: usual } = ownFolder();
      const env = { ...usual, SKEIN_FLEET_URL: asRole(url, made.role) };
      const scripted = script ? ["--script", path.join(own, "script.json")] : [];
      const name = ["--name", `worker-${workers}`, ...scripted];
      return started(["worker", "--join", ...name, ...args], own, env, hiding([...machines, seed.folder]));
    },
    [Symbol.asyncDispose]: async () => {
      for (const signal of ["SIGCONT", "SIGTERM", "SIGTERM"] as const)
        for (const { kill } of all) kill(signal);
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

/** Workers connect with a role of their own; the tests' Postgres asks for no password. */
export function asRole(url: string, role: string): string {
  const address = new URL(url);
  address.username = role;
  return address.href;
}

const PERSON = { "user.name": "Test Person", "user.email": "person@example.invalid" };

const environmentIn = (own: string, url: string): NodeJS.ProcessEnv => ({
  ...plainEnvironment(),
  HOME: path.join(own, "home"),
  SKEIN_STATE_DIR: path.join(own, "state"),
  SKEIN_FLEET_URL: url,
});

/** Hides the coordinators' folders from workers, where the machine has bubblewrap. */
function hiding(folders: readonly string[]): readonly string[] {
  const bwrap = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--die-with-parent"];
  if (spawnSync(bwrap[0]!, [...bwrap.slice(1), "true"]).status !== 0) return [];
  return [...bwrap, ...folders.flatMap((folder) => ["--tmpfs", folder]), "--"];
}

function start([command = "", ...args]: readonly string[], folder: string, env: NodeJS.ProcessEnv): Member {
  const pidFile = path.join(folder, `${randomUUID()}.pid`);
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...env, PID_FILE: pidFile },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  const waiting = new Set<() => void>();
  const tell = () => {
    for (const look of waiting) look();
  };
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    tell();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
    if (process.env["SKEIN_SHOW"]) process.stderr.write(chunk);
  });
  const { promise, resolve } = Promise.withResolvers<Awaited<Member["ended"]>>();
  child.on("close", (code) => {
    resolve({ code, out, err });
    tell();
  });
  const says = (text: string | RegExp) => {
    const said = Promise.withResolvers<void>();
    const look = () => {
      if (typeof text === "string" ? out.includes(text) : text.test(out)) said.resolve();
      else if (child.exitCode !== null)
        said.reject(new Error(`it ended without saying ${text}: ${out}${err}`));
    };
    waiting.add(look);
    look();
    return said.promise;
  };
  // Signals the process itself, not the bubblewrap around it, which passes no signals on.
  const kill = (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) : child.pid;
    try {
      if (pid) process.kill(pid, signal);
    } catch {
      // The process has just ended.
    }
  };
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const jobsUnderway = () =>
    (out.match(/: taken$/gm)?.length ?? 0) -
    (out.match(/ (?:after \d.*|could not be answered.*)$/gm)?.length ?? 0);
  return { kill, folder, ended: promise, says, isOver, jobsUnderway };
}

async function homeIn(clone: string, env: NodeJS.ProcessEnv): Promise<RunHome> {
  const project = await openProject(clone, env, SOON());
  assert.ok(!hasFailed(project), JSON.stringify(project));
  const fleet = await inFleet(project, env, configOf({}).fleet, SOON());
  assert.ok(!hasFailed(fleet), JSON.stringify(fleet));
  const [record] = await fleet.runs.list();
  assert.ok(record && !hasFailed(record), "there is no run");
  const home = await fleet.runs.open(record.run);
  assert.ok(!hasFailed(home), JSON.stringify(home));
  return home;
}

export type FoundRun = {
  readonly tree: string;
  readonly endings: Readonly<Record<string, string>>;
  readonly log: readonly Event[];
  readonly run: string;
};

/** Reads the run's outcome: its log in Postgres, and its target on the remote. */
export async function lookAt({ remote }: Pick<FleetPlace, "remote">, machine: Machine): Promise<FoundRun> {
  const home = await machine.home();
  const log = await eventsOf(home);
  const state = emptyState();
  for (const event of log) evolve(state, event);
  const { run } = home.record;
  const tree = await openRepository(remote).git("rev-parse", `skein/${run}/target^{tree}`);
  return { tree, endings: endings(state), log, run };
}
