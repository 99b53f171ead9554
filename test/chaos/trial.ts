/** Kills and resumes a run, then checks from outside everything that must hold afterwards. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { openProject } from "../../src/compose/project.ts";
import { jobId } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import { evolve } from "../../src/core/log/evolve.ts";
import { emptyState } from "../../src/core/log/state.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { Project } from "../../src/ports/project.ts";
import type { RunRecord } from "../../src/ports/runs.ts";
import { endings, eventsOf } from "../support/live-runs.ts";
import { openRepository } from "../support/repositories.ts";
import { makeProject, type Place, placeIn, script, scriptFileOf } from "./scenario.ts";

/** The outcome of the undisturbed run. */
export type Truth = {
  readonly tree: string;
  readonly endings: Readonly<Record<string, string>>;
  readonly events: number;
  readonly ms: number;
  /** The kinds of failure that attempts had. */
  readonly failures: readonly string[];
  /** `batch`: the largest number of tasks in one candidate. `moments`: other happenings that not every run has. */
  readonly batch: number;
  readonly moments: readonly string[];
};

export type Trial = { readonly kills: number; readonly violations: readonly string[] };

/** A kill after an event of the log, or after a number of ms. */
export type Kill = { readonly afterEvent: number } | { readonly afterMs: number };

/** Runs the scenario without a kill and gives its outcome; it must break no rule either. */
export async function undisturbed(): Promise<Truth> {
  await using place = await freshPlace();
  const before = await checkoutOf(place);
  const started = performance.now();
  await live(place);
  const ms = performance.now() - started;
  const found = await look(place);
  const violations = await violationsOf(place, found, found, before);
  if (violations.length > 0) throw new Error(`the undisturbed run is wrong: ${violations.join("; ")}`);
  const met = found.log.flatMap((e) => (e.type === "task.retried" ? [e.failure.kind] : []));
  const { tree, endings: ends } = found;
  return {
    tree,
    endings: ends,
    events: found.log.length,
    ms,
    failures: [...new Set(met)].sort(),
    batch: Math.max(...found.log.map((e) => (e.type === "batch.landed" ? e.members.length : 0))),
    moments: [...new Set(found.log.flatMap(momentsIn))].sort(),
  };
}

const momentsIn = (event: Event): readonly string[] =>
  event.type === "landing.turned"
    ? [`landing: ${event.phase.is}`]
    : event.type.startsWith("repair.") || event.type.startsWith("run.")
      ? [event.type]
      : [];

/** Something that goes on beside a run until the run has ended, and what else must hold then. */
export type Beside = {
  readonly beside: (place: Place, over: AbortSignal) => Promise<void>;
  readonly audit: (place: Place) => Promise<readonly string[]>;
};

const NOTHING: Beside = { beside: async () => {}, audit: async () => [] };

/** Starts one run, kills it as often as `kills` says, then resumes it to its end. */
export async function trial(kills: readonly Kill[], truth: Truth, more: Beside = NOTHING): Promise<Trial> {
  await using place = await freshPlace();
  const before = await checkoutOf(place);
  const over = new AbortController();
  const others = more.beside(place, over.signal);
  let killed = 0;
  try {
    for (const kill of kills) killed += (await live(place, kill)) ? 1 : 0;
    if (await hasRun(place)) await resume(place);
    else await live(place);
  } finally {
    over.abort();
    await others;
  }
  const found = await look(place);
  const violations = await violationsOf(place, found, truth, before);
  return { kills: killed, violations: [...violations, ...(await more.audit(place))] };
}

export async function freshPlace(): Promise<Place & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), "skein-chaos-"));
  const place = await furnish(folder);
  return { ...place, [Symbol.asyncDispose]: () => removeOrKeep(folder) };
}

/** Puts the project and the script of its agents into a folder. */
export async function furnish(folder: string): Promise<Place> {
  const place = placeIn(folder);
  await makeProject(place.repository);
  await writeFile(scriptFileOf(place), JSON.stringify(script));
  return place;
}

/** With SKEIN_KEEP set, the folder is kept, so that what a violation left behind can be looked at. */
async function removeOrKeep(folder: string): Promise<void> {
  const kept = process.env["SKEIN_KEEP"];
  if (kept) await cp(folder, path.join(kept, path.basename(folder)), { recursive: true });
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

const VICTIM = fileURLToPath(new URL("./victim.ts", import.meta.url));
const SKEIN = fileURLToPath(new URL("../../bin/skein", import.meta.url));
/** Far longer than the run takes on a busy machine. */
const MAX_MS = 240_000;

/** Gives true if the run was killed before its end. */
export async function live(place: Place, kill?: Kill): Promise<boolean> {
  const fatal = kill && "afterEvent" in kill ? kill.afterEvent : 0;
  const afterMs = kill && "afterMs" in kill ? kill.afterMs : MAX_MS;
  const { code, signal, words } = await spawned([VICTIM, place.folder, String(fatal)], place, afterMs);
  if (signal === "SIGKILL" && kill) return true;
  if (code !== 0) throw new Error(`the run ended with ${code ?? signal}: ${words}`);
  return false;
}

/** Starts the run in a process that can be killed, or resumes it if it exists. `nodeArgs` come before the program. */
export async function startRun(place: Place, nodeArgs: readonly string[]) {
  const isThere = await hasRun(place);
  const program = isThere ? await resumeArgs(place) : [VICTIM, place.folder, "0"];
  return { ...begin([...nodeArgs, ...program], place, MAX_MS), goodCode: isThere ? 1 : 0 };
}

async function resumeArgs(place: Place): Promise<readonly string[]> {
  const run = (await projectOf(place).then(({ runs }) => runs.list()))[0] as RunRecord;
  return [SKEIN, "resume", run.run, "--repo", place.repository];
}

/**
 * Resumes by the command, as a person does, through the program `within`; exit code 1 means that something is not done.
 */
export async function resume(place: Place, within: readonly string[] = []): Promise<void> {
  const { code, words, lines } = await spawned(await resumeArgs(place), place, MAX_MS, within);
  if (code !== 1) throw new Error(`skein resume ended with ${code}: ${words}`);
  for (const line of lines.split("\n")) if (line.includes("could not be given back")) console.error(line);
}

export const hasRun = async (place: Place) => (await (await projectOf(place)).runs.list()).length > 0;

async function projectOf(place: Place): Promise<Project> {
  const project = await openProject(place.repository, place.env, AbortSignal.timeout(10_000));
  if (hasFailed(project)) throw new Error(project.failure.message);
  return project;
}

type End = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly words: string;
  readonly lines: string;
};

const spawned = (
  args: readonly string[],
  place: Place,
  maxMs: number,
  within: readonly string[] = [],
): Promise<End> => begin(args, place, maxMs, within).ended;

function begin(args: readonly string[], { env }: Place, maxMs: number, within: readonly string[] = []) {
  const [command = "", ...rest] = [...within, process.execPath, ...args];
  const child = spawn(command, rest, { stdio: ["ignore", "pipe", "pipe"], env });
  let words = "";
  let lines = "";
  child.stdout.on("data", (chunk: Buffer) => {
    lines += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    words += chunk.toString();
  });
  const { promise, resolve } = Promise.withResolvers<End>();
  child.on("close", (code, signal) => resolve({ code, signal, words, lines }));
  const kill = () => void child.kill("SIGKILL");
  const timer = setTimeout(kill, maxMs);
  return { kill, ended: promise.finally(() => clearTimeout(timer)) };
}

type Found = Pick<Truth, "tree" | "endings"> & { readonly log: readonly Event[]; readonly home: string };

export async function look(place: Place): Promise<Found> {
  const project = await projectOf(place);
  const [record] = await project.runs.list();
  if (!record || hasFailed(record)) throw new Error("the run is gone");
  const home = await project.runs.open(record.run);
  if (hasFailed(home)) throw new Error(home.failure.message);
  const log = await eventsOf(home);
  const state = emptyState();
  for (const event of log) evolve(state, event);
  const { git } = openRepository(place.repository);
  const tree = await git("rev-parse", `skein/${record.run}/target^{tree}`);
  return { tree, endings: endings(state), log, home: home.folder };
}

/**
 * What must hold after any kill: the same tree and the same end of each task as without one; no durable answer is asked
 * for again; nothing lands twice; no process and no workspace is left; the user's checkout is the same, byte for byte.
 */
export async function violationsOf(
  place: Place,
  found: Found,
  truth: Pick<Truth, "tree" | "endings">,
  before: string,
): Promise<readonly string[]> {
  const same = (what: string, is: unknown, was: unknown) =>
    JSON.stringify(is) === JSON.stringify(was)
      ? []
      : [`${what} is ${JSON.stringify(is)}, not ${JSON.stringify(was)}`];
  return [
    ...same("the target's tree", found.tree, truth.tree),
    ...same("the tasks' end", sorted(found.endings), sorted(truth.endings)),
    ...same("the user's checkout", await checkoutOf(place), before),
    ...repeated(found.log),
    ...(await unheard(found)),
    ...(await twice(place, found.log)),
    ...(await leftBehind(place, found.home)),
  ];
}

const sorted = (record: Readonly<Record<string, string>>) => Object.entries(record).sort();

/** Finds jobs that were started twice, or that were started for a task that is settled or has handed off. */
function repeated(log: readonly Event[]): readonly string[] {
  const started = new Set<string>();
  const closed = new Set<string>();
  const wrong: string[] = [];
  for (const event of log) {
    if (event.type === "job.started") {
      const id = jobId(event.job);
      if (started.has(id)) wrong.push(`${id} was started twice`);
      started.add(id);
      if (event.job.kind === "work" && closed.has(event.job.task)) wrong.push(`${id} was done already`);
    }
    if (event.type === "task.handed-off" || event.type === "task.done" || event.type === "task.failed")
      closed.add(event.task);
    if (event.type === "task.retried") closed.delete(event.task);
    if (event.type === "batch.landed") for (const { task } of event.members) closed.add(task);
  }
  return wrong;
}

/** Finds jobs that ended as interrupted although the worker's answer was durable on the disk. */
async function unheard({ log, home }: Found): Promise<readonly string[]> {
  const interrupted = log.flatMap((e) => (e.type === "job.ended" && e.how === "interrupted" ? [e.job] : []));
  const folder = path.join(home, "jobs");
  const answered = await Promise.all(
    interrupted.map(async (id) => {
      const file = path.join(folder, id.replaceAll(/[^a-z0-9.]/g, "-"), "answer.json");
      return readFile(file).then(
        () => [`${id} had answered, and was not heard`],
        () => [], // There is no answer: the job was interrupted indeed.
      );
    }),
  );
  return answered.flat();
}

/** Finds tasks that landed twice, in the log or in the target's history. */
async function twice(place: Place, log: readonly Event[]): Promise<readonly string[]> {
  const landed = log.flatMap((e) =>
    e.type === "batch.landed" ? e.members.map((m) => m.task as string) : [],
  );
  const opened = log.find((e) => e.type === "run.opened")!;
  const { git } = openRepository(place.repository);
  const range = `${opened.request.base}..skein/${opened.request.run}/target`;
  const trailers = await git(
    "log",
    "--first-parent",
    "--format=%(trailers:key=Skein-Task,valueonly,separator=%x20)",
    range,
  );
  const merged = trailers.split(/\s+/).filter((name) => name !== "");
  const again = (names: readonly string[], where: string) =>
    names.filter((name, i) => names.indexOf(name) < i).map((name) => `${name} landed twice in the ${where}`);
  const lost = landed.filter((name) => !merged.includes(name)).map((name) => `${name} is not in the target`);
  return [...again(landed, "log"), ...again(merged, "target"), ...lost];
}

async function leftBehind(place: Place, home: string): Promise<readonly string[]> {
  const workspaces = await readdir(path.join(home, "workspaces")).catch(() => []);
  const processes = await processesOf(place.folder);
  return [
    ...workspaces.map((name) => `the workspace ${name} was not reclaimed`),
    ...processes.map((pid) => `process ${pid} is still there`),
  ];
}

/** The processes whose working folder or environment is in the place. Only where the system has /proc. */
export async function processesOf(folder: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const isOurs = async (pid: string) => {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
    const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    return cwd.startsWith(folder) || environ.includes(folder);
  };
  const ours = await Promise.all(pids.map(async (pid) => ((await isOurs(pid)) ? [pid] : [])));
  return ours.flat();
}

/** Every byte of the user's files, of HEAD and of the index, and every ref that is not Skein's. */
export async function checkoutOf({ repository }: Place): Promise<string> {
  const hash = createHash("sha256");
  const refs = await openRepository(repository).git("for-each-ref", "--format=%(refname) %(objectname)");
  hash.update(
    refs
      .split("\n")
      .filter((line) => !/^refs\/(?:heads|notes|)\/?skein\//.test(line))
      .join("\n"),
  );
  const names = (await readdir(repository)).filter((name) => name !== ".git").sort();
  for (const name of [...names, ".git/HEAD", ".git/index"])
    hash.update(`${name}\0`).update(await readFile(path.join(repository, name)));
  return hash.digest("hex");
}
