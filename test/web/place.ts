/** Makes runs to look at on the page, recorded ones and ones whose events the test writes, and a server for them. */
import { globSync, statSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { listen } from "../../src/adapters/http/listen.ts";
import { partsOf } from "../../src/compose/parts.ts";
import { openProject } from "../../src/compose/project.ts";
import { serverParts } from "../../src/compose/serve.ts";
import type { JobId } from "../../src/core/job.ts";
import type { Event, EventOf, Fact } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { TaskId, TaskSpec } from "../../src/core/task.ts";
import type { Project } from "../../src/ports/project.ts";
import type { RunHome } from "../../src/ports/runs.ts";
import { Access } from "../../src/surfaces/http/access.ts";
import { findPage } from "../../src/surfaces/http/page.ts";
import { createServerApp } from "../../src/surfaces/http/server.ts";
import { buildPage } from "../../tools/build-web.ts";
import { ROOT } from "../../tools/source-files.ts";
import { makeRepository, type TestRepository } from "../support/repositories.ts";

export type Served = AsyncDisposable & {
  readonly port: number;
  readonly origin: string;
  /** The sign-in link for one browser; after its use there is a new one, as the terminal shows it. */
  readonly address: string;
  /** The token of a device, which is admitted when it is first asked for. */
  readonly token: string;
};

/** `port`: the earlier port, for a server that comes back. */
export async function serve(
  project: Project,
  { port = 0, headMs }: { readonly port?: number; readonly headMs?: number } = {},
): Promise<Served> {
  if (isStale()) await buildPage();
  const { devices, ...parts } = serverParts(project);
  const access = new Access(devices);
  const hosts = new Set<string>();
  const app = createServerApp({
    ...partsOf(project, process.env),
    ...parts,
    access,
    hosts,
    page: findPage()!,
  });
  const server = await listen(app.fetch, {
    host: "127.0.0.1",
    port,
    ...(headMs !== undefined && { headMs }),
  });
  if (hasFailed(server)) throw new Error(server.failure.message);
  hosts.add(`127.0.0.1:${server.port}`);
  const origin = `http://127.0.0.1:${server.port}`;
  let token: string | undefined;
  return {
    port: server.port,
    origin,
    get token() {
      token ??= access.admit(access.link, "test", Date.now())!;
      return token;
    },
    get address() {
      return `${origin}/#sign-in=${access.link}`;
    },
    [Symbol.asyncDispose]: server.close,
  };
}

/** Whether the built page is older than its sources. */
function isStale(): boolean {
  const builtAt = statSync(path.join(ROOT, "dist/web/main.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync("src/{core,graph,text,surfaces/web}/**/*.{ts,tsx,css,html}", { cwd: ROOT });
  return sources.some((file) => statSync(path.join(ROOT, file)).mtimeMs > builtAt);
}

export async function projectAt(folder: string, env: NodeJS.ProcessEnv): Promise<Project> {
  const project = await openProject(folder, env, AbortSignal.timeout(30_000));
  if (hasFailed(project)) throw new Error(project.failure.message);
  return project;
}

/** A run driven by the test, which appends the events that an engine would decide on. */
export type MadeRun = AsyncDisposable & {
  readonly project: Project;
  readonly home: RunHome;
  readonly events: readonly Event[];
  readonly base: string;
  readonly repository: TestRepository;
  readonly stateDir: string;
  append(...facts: readonly Fact[]): Promise<void>;
  /** Appends events as they are, with their times. */
  more(events: readonly Event[]): Promise<void>;
};

/** `isEmpty`: without the event that opens the run. */
export async function makeRun(goal = "Add a greeting", isEmpty = false): Promise<MadeRun> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "skein-web-")));
  const repository = await makeRepository({ files: { "README.md": "hello\n" } });
  const base = await repository.git("rev-parse", "HEAD");
  const env = { ...process.env, SKEIN_STATE_DIR: path.join(folder, "state") };
  const project = await projectAt(repository.folder, env);
  const record = {
    run: "1118-made",
    goal,
    base,
    createdAt: Date.now(),
    settings: { budget: { tokens: 5_000 } },
  };
  const home = await project.runs.create(record);
  if (hasFailed(home)) throw new Error(home.failure.message);
  const lock = await home.lock();
  if (hasFailed(lock)) throw new Error(lock.failure.message);
  const events: Event[] = [];
  const made: MadeRun = {
    project,
    home,
    events,
    base,
    repository,
    stateDir: env.SKEIN_STATE_DIR,
    append: (...facts) => {
      const at = Date.now();
      return made.more(facts.map((fact) => ({ ...fact, at }) as Event));
    },
    more: async (added) => {
      const done = await home.log.append(events.length, added);
      if (done.is !== "done") throw new Error(JSON.stringify(done));
      events.push(...added);
    },
    [Symbol.asyncDispose]: async () => {
      await lock.release();
      await repository[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  if (isEmpty) return made;
  await made.append({
    type: "run.opened",
    request: { run: record.run, goal, base },
    spec: specOf("goal", goal, "plan"),
  });
  return made;
}

/** Further events in the log of a run on a fleet. */
export const onFleet = {
  offered: (n: number): Fact => ({
    type: "job.started",
    job: { kind: "work", task: `t.${n}` as TaskId, attempt: 1 },
    until: Date.now() + 60_000,
    isOffered: true,
  }),
  /** Starts the gate for one task. */
  gate: (n: number): Fact => ({
    type: "job.started",
    job: { kind: "land", turn: 1, members: [{ task: `t.${n}` as TaskId, attempt: 1 }] },
    until: Date.now() + 60_000,
    isOffered: true,
  }),
  machine: (
    machine: string,
    state: EventOf<"machine.changed">["state"],
    labels: readonly string[] = [],
  ): Fact => ({
    ...{ type: "machine.changed", machine, state, capacity: 2, labels },
  }),
  taken: (n: number, machine: string): Fact => ({
    ...{
      type: "job.taken",
      job: `work:t.${n}#1` as JobId,
      machine,
      tries: 0,
      since: 0,
      until: Date.now() + 60_000,
    },
  }),
};

export const specOf = (
  key: string,
  description: string,
  shape: TaskSpec["shape"] = "work",
  after: readonly TaskId[] = [],
): TaskSpec => ({
  key,
  description,
  acceptance: "",
  scope: [],
  after,
  priority: 5,
  delivers: "change",
  shape,
  slug: "made",
});

export const planned = (
  task: TaskId,
  into: readonly { readonly id: TaskId; readonly spec: TaskSpec }[],
): Fact => ({
  type: "plan.accepted",
  task,
  into: into.map((one) => ({ ...one, rank: 5 })),
  replanAfter: 1,
  said: { scratchpad: "", addressed: [], heard: 0, steers: 0 },
  notes: [],
});
