/** Restores a recorded run of an earlier version, with its repository and state folder, in a new place. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { appendFile, copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { openProject } from "../../src/compose/project.ts";
import type { Event, RunEnd } from "../../src/core/log/event.ts";
import { hasFailed } from "../../src/core/result.ts";
import { isSettled } from "../../src/core/task.ts";
import { nothingSeen, see, viewOf } from "../../src/core/view/view.ts";
import type { Script } from "../../src/ports/agent-script.ts";
import { type SeenCall, startModelServer } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import { openRepository } from "../support/repositories.ts";
import { callSkein, type Ended, type Started, startSkein } from "./cli-place.ts";
import { jobOf } from "./model-accounting.ts";

/** `<day>/<kind>/` has four files: `expected.json`, `events.db`, `files.jsonl`, `repository.bundle`. */
export const FIXTURES = fileURLToPath(new URL("../fixtures/runs/", import.meta.url));

/** The content of `expected.json`. */
export type Recorded = {
  readonly recorded: {
    /**
     * The commit of Skein that made the recording, the folder that it was made in, and the repository's name in that
     * folder.
     */
    readonly by: string;
    readonly in: string;
    readonly repository: string;
    /** The address of the model's server, if one was called, and the tokens that the server counted. */
    readonly server?: string;
    readonly paid?: number;
    /** The exit code; undefined if the run was killed. */
    readonly exit?: number;
  };
  readonly run: string;
  /** The state that `skein status` showed. */
  readonly state: string;
  /** Plan and work jobs whose answers were on the disk: no agent may be asked for them again. */
  readonly answered: readonly string[];
  readonly end: End;
  /** The outcome of a resume; undefined if the run was closed. */
  readonly resumed?: Resumed;
};

/** The outcome in a log, as far as people rely on it; a task that is not settled is "open". */
export type End = {
  readonly how: RunEnd | "open";
  readonly left: readonly string[];
  readonly tasks: Readonly<Record<string, string>>;
  readonly tip: string;
  readonly events: number;
  readonly tokens: number;
  readonly microdollars: number;
};

export type Resumed = Pick<End, "how" | "tasks"> & { readonly exit: number; readonly tree: string };

/**
 * A line of `files.jsonl`. A path below `state/` is below the repository's state folder, whose real name depends on the
 * machine.
 */
export type KeptFile = { readonly path: string; readonly isProgram?: true } & (
  | { readonly text: string }
  | { readonly base64: string }
);

export type RunPlace = {
  readonly folder: string;
  readonly repository: ReturnType<typeof openRepository>;
  readonly env: NodeJS.ProcessEnv;
  start(...args: readonly string[]): Started;
  /** Calls a command in this process. */
  ask(...args: readonly string[]): Promise<Ended>;
  /** The folder with the state of all runs of the repository. */
  state(): Promise<string>;
};

/** All fixtures, with their day and kind. */
export const recordedRuns = (): readonly { readonly day: string; readonly kind: string }[] =>
  readdirSync(FIXTURES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: day }) => readdirSync(path.join(FIXTURES, day)).map((kind) => ({ day, kind })));

export const readRecorded = (fixture: string): Recorded =>
  JSON.parse(readFileSync(path.join(fixture, "expected.json"), "utf8")) as Recorded;

export function placeIn(folder: string, repository = "repository"): RunPlace {
  const top = path.join(folder, repository);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: path.join(folder, "home"),
    SKEIN_STATE_DIR: path.join(folder, "state"),
    GIT_CONFIG_NOSYSTEM: "1",
    LC_ALL: "C",
    MODEL_KEY: "a-key-that-opens-nothing",
  };
  return {
    folder,
    repository: openRepository(top),
    env,
    start: (...args) => startSkein(args, top, env),
    ask: (...args) => callSkein(args, top, env),
    state: async () => {
      const project = await openProject(top, env, AbortSignal.timeout(30_000));
      if (hasFailed(project)) throw new Error(project.failure.message);
      return project.stateFolder;
    },
  };
}

export type RestoredRun = RunPlace & AsyncDisposable & { readonly recorded: Recorded };

/**
 * Restores a fixture. Two things are changed, because no other place has them: in `run.json`, the agent's folder and
 * the address of its model; in the log, that address, because it is a part of the account's name.
 */
export async function restoreRun(fixture: string, server?: string): Promise<RestoredRun> {
  const recorded = readRecorded(fixture);
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "skein-recorded-")));
  const place = placeIn(folder, recorded.recorded.repository);
  await mkdir(path.join(folder, "home"));
  await restoreRepository(place.repository, path.join(fixture, "repository.bundle"));
  const state = await place.state();
  const { in: oldFolder, server: oldServer = "no server" } = recorded.recorded;
  const moved = (text: string) =>
    text.replaceAll(oldFolder, folder).replaceAll(oldServer, server ?? oldServer);
  for (const kept of await keptFiles(fixture)) {
    const isState = kept.path.startsWith("state/");
    const file = isState ? path.join(state, kept.path.slice(6)) : path.join(folder, kept.path);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const bytes = "text" in kept ? kept.text : Buffer.from(kept.base64, "base64");
    const isRecord = path.basename(file) === "run.json" && typeof bytes === "string";
    await writeFile(file, isRecord ? moved(bytes) : bytes, { mode: kept.isProgram ? 0o755 : 0o600 });
  }
  const log = path.join(state, "runs", recorded.run, "events.db");
  await copyFile(path.join(fixture, "events.db"), log);
  if (server !== undefined) renameAccount(log, oldServer, server);
  return {
    ...place,
    recorded,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

export async function makeEmptyRepository({ folder, git }: RunPlace["repository"]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await git("init", "-q", "-b", "main", "--template=");
  const person = "[user]\n\tname = Test Person\n\temail = person@example.invalid\n";
  await appendFile(path.join(folder, ".git/config"), person);
}

async function restoreRepository(repository: RunPlace["repository"], bundle: string): Promise<void> {
  await makeEmptyRepository(repository);
  await repository.git("fetch", "-q", "--update-head-ok", bundle, "+refs/*:refs/*");
  await repository.git("reset", "-q", "--hard");
}

export async function keptFiles(fixture: string): Promise<readonly KeptFile[]> {
  const lines = (await readFile(path.join(fixture, "files.jsonl"), "utf8")).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as KeptFile);
}

export function textOf(files: readonly KeptFile[], name: string): string | undefined {
  const file = files.find((one) => one.path === name);
  return file && "text" in file ? file.text : undefined;
}

function renameAccount(log: string, old: string, now: string): void {
  const db = new DatabaseSync(log);
  db.prepare("UPDATE event SET body = replace(body, ?, ?)").run(old, now);
  db.close();
}

/** The events, as the command `skein logs` prints them. */
export async function eventsIn({ ask }: RunPlace, run: string): Promise<readonly Event[]> {
  const { code, out, err } = await ask("logs", run, "--json");
  if (code !== 0) throw new Error(`skein logs ended with ${code}: ${err}`);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
}

export function endOf(events: readonly Event[]): End {
  const seen = events.reduce(see, nothingSeen());
  const { state } = seen;
  const { target, spent } = viewOf(seen);
  const tasks = [...state.tasks.values()].map(
    (task) => [`${task.id} ${task.spec.key}`, isSettled(task) ? task.state.is : "open"] as const,
  );
  return {
    how: state.closed?.how ?? "open",
    left: state.closed?.left ?? [],
    tasks: Object.fromEntries(tasks.sort(([a], [b]) => (a < b ? -1 : 1))),
    tip: target.tip,
    events: events.length,
    tokens: spent.tokens,
    microdollars: spent.microdollars,
  };
}

export type ResumedRun = Resumed & {
  readonly events: readonly Event[];
  /** The plan and work jobs that an agent or a model was asked for since the resume. */
  readonly asked: readonly string[];
  /** The model calls since the resume, and the tokens that the server counted for them. */
  readonly calls: readonly SeenCall[];
  readonly paid: number;
  /** What the command printed. */
  readonly words: string;
};

/** Resumes a run to its end with `skein resume`; `look` can then check what is left. */
export async function resumeRun(
  fixture: string,
  look: (place: RestoredRun) => Promise<void> = async () => {},
): Promise<ResumedRun> {
  const isModel = readRecorded(fixture).recorded.server !== undefined;
  const script = isModel ? textOf(await keptFiles(fixture), "script.json") : undefined;
  const answer = playsScript(JSON.parse(script ?? '{"plans":{},"work":{}}') as Script);
  await using server = await startModelServer({ answer });
  await using place = await restoreRun(fixture, isModel ? server.url : undefined);
  const { run } = place.recorded;
  await writeFile(path.join(place.folder, "go"), ""); // The file that the run's agents wait for.
  const { length } = askedIn(place);
  const { code, out, err } = await place.start("resume", run).ended;
  await look(place);
  const events = await eventsIn(place, run);
  const { how, tasks } = endOf(events);
  const tree = await place.repository.git("rev-parse", `skein/${run}/target^{tree}`);
  const asked = [...askedIn(place).slice(length), ...server.calls.map(jobOf)];
  const { input, output } = server.tokens();
  const { calls } = server;
  return { exit: code ?? -1, how, tasks, tree, events, asked, calls, paid: input + output, words: out + err };
}

/** The turns that the fixtures' agents were asked for: each writes its own down. */
export function askedIn({ folder }: RunPlace): readonly string[] {
  const file = path.join(folder, "asked");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}
