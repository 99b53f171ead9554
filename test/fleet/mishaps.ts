/** Causes mishaps in a working fleet, and checks from outside what must hold afterwards. */
import { rename } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { jobId } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import { processesOf } from "../chaos/trial.ts";
import { closing, endings, makeSetting, runGoal } from "../support/live-runs.ts";
import { TestPostgres } from "../support/postgres.ts";
import { openRepository } from "../support/repositories.ts";
import {
  type FleetPlace,
  type FoundRun,
  lookAt,
  type Machine,
  type Member,
  makeFleetPlace,
} from "./fleet-place.ts";
import { type Lies, lie } from "./liar.ts";
import { FILES, RUN_ARGS, scenario } from "./scenario.ts";

/** `after`: the number of events in the log after which the mishap comes. */
export type Mishap =
  | { readonly is: "worker-killed" | "worker-lies" | "coordinator-killed"; readonly after: number }
  | {
      readonly is: "worker-stopped" | "postgres-away" | "remote-away";
      readonly after: number;
      readonly ms: number;
    };

type FleetTruth = Pick<FoundRun, "tree" | "endings"> & { readonly events: number };

/** Runs the scenario on one machine, for comparison. */
export async function onOneMachine(): Promise<FleetTruth> {
  await using setting = await makeSetting({ files: FILES, script: scenario() });
  const config = setting.config({
    ...{ gate: ["sh check.sh"], workers: 6, overlap: "allow", "retry.maxFailed": 2 },
    ...{ "retry.first": "20ms", "retry.max": "50ms" },
  });
  const { end, target, events } = await runGoal(setting, config);
  if (end.is !== "closed") throw new Error(closing(end));
  const tree = await setting.repository.git("rev-parse", `${target}^{tree}`);
  return { tree, endings: endings(end.state), events: events.length };
}

/** Every kind of mishap early, in the middle and late in the run; kills of coordinators more often. */
export function* fleetPlans({ events }: FleetTruth, every: number): Generator<Mishap> {
  for (const part of [0.2, 0.5, 0.75]) {
    const after = Math.ceil(events * part);
    yield { is: "worker-killed", after };
    yield { is: "worker-lies", after };
    yield { is: "worker-stopped", after, ms: 60_000 };
    yield { is: "postgres-away", after, ms: part === 0.5 ? 15_000 : 3_000 }; // 15 s is longer than a heartbeat.
    yield { is: "remote-away", after, ms: 8_000 };
  }
  for (let after = 1; after < events; after += every) yield { is: "coordinator-killed", after };
}

type FleetTrial = {
  readonly kills: number;
  readonly violations: readonly string[];
  readonly ms: number;
};

/** Runs the scenario with its mishaps, to its end by the last coordinator. */
export async function fleetTrial(mishaps: readonly Mishap[], truth: FleetTruth): Promise<FleetTrial> {
  await using postgres = await TestPostgres.start();
  const url = await postgres.newDatabase();
  const folders: string[] = [];
  let violations: readonly string[];
  let kills = 0;
  const begun = performance.now();
  {
    await using place = await makeFleetPlace({ url, files: FILES, script: scenario(PAUSE_MS) });
    const scene = await Scene.begin(place, postgres);
    for (const mishap of mishaps) kills += (await scene.suffer(mishap)) ? 1 : 0;
    const { code, err } = await scene.ended();
    const found = await lookAt(place, scene.machine);
    violations = [
      ...(code === 1 ? [] : [`the coordinator ended with ${code}: ${err.slice(-1_000)}`]),
      ...different(found, truth),
      ...repeated(found.log),
      ...madeAgain(found.log),
      ...(mishaps.some(({ is }) => /killed|stopped|lies/.test(is)) ? [] : takenOver(found.log)),
      ...(await scene.successes()),
      ...(await leftThere(place, found)),
      ...(await notInTarget(place, found)),
      ...(await redCommits(place, found)),
    ];
    folders.push(...scene.folders());
  }
  const left = (await Promise.all(folders.map(processesOf))).flat();
  violations = [...violations, ...left.map((pid) => `process ${pid} is still there`)];
  return { kills, violations, ms: performance.now() - begun };
}

/** Attempts take a while, so that some are under way when a mishap comes. */
const PAUSE_MS = 700;

class Scene {
  readonly #place: FleetPlace;
  readonly #postgres: TestPostgres;
  readonly #workers: Member[] = [];
  #coordinator: Member;
  machine: Machine;
  readonly #folders: string[] = [];
  readonly #lies: Lies[] = [];
  readonly #joined = new Set<Member>();
  readonly #stopped = new Set<Member>();
  #isEnded = false;

  private constructor(place: FleetPlace, postgres: TestPostgres, machine: Machine, coordinator: Member) {
    this.#place = place;
    this.#postgres = postgres;
    this.machine = machine;
    this.#coordinator = coordinator;
    this.#folders.push(machine.folder);
  }

  static async begin(place: FleetPlace, postgres: TestPostgres): Promise<Scene> {
    const machine = await place.machine();
    const script = ["--script", `${machine.folder}/script.json`];
    const coordinator = machine.skein("run", "be disturbed", ...script, ...RUN_ARGS, "--json");
    const scene = new Scene(place, postgres, machine, coordinator);
    for (let i = 0; i < WORKERS; i += 1) scene.#join();
    return scene;
  }

  folders(): readonly string[] {
    return this.#folders;
  }

  async ended() {
    const end = await this.#coordinator.ended;
    this.#isEnded = true;
    return end;
  }

  /** What hostile workers achieved, which must be nothing. */
  async successes(): Promise<readonly string[]> {
    return (await Promise.all(this.#lies.map(({ over }) => over))).flat();
  }

  /** Gives true if the mishap came before the run was over. */
  async suffer(mishap: Mishap): Promise<boolean> {
    await this.#events(mishap.after);
    if (this.#coordinator.isOver()) return false;
    switch (mishap.is) {
      case "worker-killed":
        await this.#killOne();
        this.#join();
        return true;
      case "worker-lies":
        this.#lies.push(
          lie(
            this.#place,
            () => this.#living(),
            () => this.#isEnded,
          ),
        );
        return true;
      case "worker-stopped":
        await this.#stopFor(await this.#busyWorker(), mishap.ms);
        return true;
      case "postgres-away":
        await this.#postgres.stop();
        await pause(mishap.ms);
        await this.#postgres.start();
        return true;
      case "remote-away":
        await rename(this.#place.remote, `${this.#place.remote}.away`);
        await pause(mishap.ms);
        await rename(`${this.#place.remote}.away`, this.#place.remote);
        return true;
      case "coordinator-killed":
        this.#coordinator.kill("SIGKILL");
        await this.#coordinator.ended;
        await this.#takeOver();
        return true;
    }
  }

  /** Without stopped workers: a worker that is stopped may lose its name after 10 s. */
  #living(): readonly string[] {
    return this.#workers.flatMap((worker, i) =>
      this.#joined.has(worker) && !worker.isOver() && !this.#stopped.has(worker) ? [`worker-${i + 1}`] : [],
    );
  }

  #join(): void {
    const worker = this.#place.worker("--capacity", "2");
    this.#workers.push(worker);
    worker.says("has joined").then(
      () => this.#joined.add(worker),
      () => {}, // The worker was killed before it had joined.
    );
    this.#folders.push(worker.folder);
  }

  async #killOne(): Promise<void> {
    const worker = await this.#busyWorker();
    this.#stopped.add(worker);
    worker.kill("SIGKILL");
  }

  /** Resumes on another machine, with an empty state folder and another clone. */
  async #takeOver(): Promise<void> {
    this.machine = await this.#place.machine();
    this.#folders.push(this.machine.folder);
    const { run } = (await this.machine.home()).record;
    this.#coordinator = this.machine.skein("resume", run, "--json");
  }

  async #stopFor(worker: Member, ms: number): Promise<void> {
    this.#stopped.add(worker);
    worker.kill("SIGSTOP");
    await pause(ms);
    worker.kill("SIGCONT");
  }

  async #busyWorker(): Promise<Member> {
    for (;;) {
      const busy = this.#workers.find((worker) => !worker.isOver() && worker.jobsUnderway() > 0);
      if (busy) return busy;
      await pause(20);
    }
  }

  /** Waits until the log has that many events, of any coordinator, or until the coordinator has ended. */
  async #events(count: number): Promise<void> {
    const home = await this.machine.home().catch(() => undefined);
    for (let log = home?.log; !this.#coordinator.isOver(); await pause(50)) {
      log ??= (await this.machine.home().catch(() => undefined))?.log;
      const seen = log ? (await Array.fromAsync(log.read(0)).catch(() => [])).length : 0;
      if (seen >= count) return;
    }
  }
}

const WORKERS = 3;

const different = (found: FoundRun, truth: FleetTruth): readonly string[] => {
  const sorted = (record: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(record).sort());
  return [
    ...(found.tree === truth.tree ? [] : [`the target's tree is ${found.tree}, not ${truth.tree}`]),
    ...(sorted(found.endings) === sorted(truth.endings)
      ? []
      : [`the tasks' ends are ${sorted(found.endings)}`]),
  ];
};

function repeated(log: readonly Event[]): readonly string[] {
  const started = log.flatMap((event) => (event.type === "job.started" ? [jobId(event.job)] : []));
  const landed = log.flatMap((event) =>
    event.type === "batch.landed" ? event.members.map(({ task }) => `the landing of ${task}` as string) : [],
  );
  const all = [...started, ...landed];
  return all.filter((what, i) => all.indexOf(what) < i).map((what) => `${what} is in the log twice`);
}

/** What a worker handed in is on the remote, so a later coordinator must not have it made again. */
const madeAgain = (log: readonly Event[]): readonly string[] =>
  log.flatMap((event) =>
    event.type === "task.retried" && /had handed in is not in the repository/.test(event.failure.message)
      ? [`${event.task} had to be made again`]
      : [],
  );

/**
 * Where no machine was lost, no job is taken by a second one. Gate runs are parts of jobs, and machines may take turns.
 */
function takenOver(log: readonly Event[]): readonly string[] {
  const taken = log.flatMap((event) =>
    event.type === "job.taken" && /^(?:plan|work):/.test(event.job) ? [event.job as string] : [],
  );
  return taken.filter((job, i) => taken.indexOf(job) < i).map((job) => `${job} was taken from its machine`);
}

/** Refs that workers pushed, also under names of their own. */
async function leftThere({ remote }: FleetPlace, { run }: FoundRun): Promise<readonly string[]> {
  const refs = await openRepository(remote).git(
    "for-each-ref",
    "--format=%(refname)",
    `refs/skein/fleet/${run}`,
  );
  return refs === ""
    ? []
    : [`the run is over, and on the remote there still are ${refs.split("\n").join(" ")}`];
}

async function notInTarget({ remote }: FleetPlace, { log, run }: FoundRun): Promise<readonly string[]> {
  const opened = log.find((event) => event.type === "run.opened")!;
  const { git } = openRepository(remote);
  const range = `${opened.request.base}..skein/${run}/target`;
  const format = "--format=%(trailers:key=Skein-Task,valueonly,separator=%x20)";
  const merged = (await git("log", "--first-parent", format, range))
    .split(/\s+/)
    .filter((name) => name !== "");
  const landed = log.flatMap((e) =>
    e.type === "batch.landed" ? e.members.map((m) => m.task as string) : [],
  );
  return [
    ...merged.filter((name, i) => merged.indexOf(name) < i).map((name) => `${name} is in the target twice`),
    ...landed.filter((name) => !merged.includes(name)).map((name) => `${name} is not in the target`),
  ];
}

/** Every commit that the target ever had must pass the gate. */
async function redCommits({ remote }: FleetPlace, { log, run }: FoundRun): Promise<readonly string[]> {
  const opened = log.find((event) => event.type === "run.opened")!;
  const { git } = openRepository(remote);
  const range = `${opened.request.base}..skein/${run}/target`;
  const commits = (await git("rev-list", "--first-parent", range)).split("\n");
  const red: string[] = [];
  for (const commit of commits) {
    const names = (await git("ls-tree", "--name-only", commit))
      .split("\n")
      .filter((name) => name.endsWith(".txt"));
    const texts = await Promise.all(names.map((name) => git("show", `${commit}:${name}`)));
    const list = texts[names.indexOf("list.txt")]?.split("\n") ?? [];
    const isGreen = !texts.some((text) => text.includes("bad")) && list.join() === [...list].sort().join();
    if (!isGreen) red.push(`${commit} was on the target and does not pass`);
  }
  return red;
}
