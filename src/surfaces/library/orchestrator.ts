/** Starts, finds and resumes runs of a repository for a program: `createOrchestrator`. */
import path from "node:path";
import { beginRun, followingPlan } from "../../app/begin-run.ts";
import type { RunListeners } from "../../app/follow-run.ts";
import type { GivenAgents, Parts } from "../../app/parts.ts";
import { misconfigured, misused, type Refused } from "../../app/refused.ts";
import { resumeRun } from "../../app/resume-run.ts";
import { seeRun } from "../../app/see-run.ts";
import { functionAgents } from "../../compose/agents.ts";
import { partsOf } from "../../compose/parts.ts";
import {
  type Config,
  type ConfigProblem,
  fromSettings,
  problemText,
  readConfig,
} from "../../config/index.ts";
import { failure, messageOf } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { viewOf } from "../../core/view/view.ts";
import { readValue } from "../../planning/files/read-plan.ts";
import { lintPlan } from "../../planning/lint.ts";
import type { ExecutionPlan } from "../../planning/plan.ts";
import type { Project } from "../../ports/project.ts";
import type { RunRecord } from "../../ports/runs.ts";
import { Feed, handleOf, type Started } from "./run-handle.ts";
import { agreedFor, openTrusted } from "./trusted.ts";
import type { Orchestrator, OrchestratorOptions, RunHandle, RunListed, Settings } from "./types.ts";

export function openOrchestrator(options: OrchestratorOptions): Orchestrator {
  const desk = new Desk(options);
  return {
    run: async (wanted) => unlessStopped(await desk.begin(() => desk.run(wanted)), wanted?.signal),
    resume: async (run, { signal = NEVER } = {}) =>
      unlessStopped(await desk.begin(() => desk.resume(run, signal)), signal),
    runs: () => safely(() => desk.runs()),
    view: (run) => safely(() => desk.view(run)),
    [Symbol.asyncDispose]: () => desk.close(),
  };
}

const NEVER: AbortSignal = new AbortController().signal;

/** Turns a thrown error, from a defect or a failing disk, into a failure. */
async function safely<T>(act: () => Promise<T>): Promise<T | Failed> {
  try {
    return await act();
  } catch (error) {
    return { failure: failure("repository", `it broke: ${messageOf(error)}`, "try again, or report it") };
  }
}

/** After an abort, every failure counts as interrupted. */
const unlessStopped = <T extends object>(result: T | Failed, signal: AbortSignal | undefined): T | Failed =>
  signal?.aborted && hasFailed(result)
    ? { failure: failure("interrupted", `stopped before it began: ${messageOf(signal.reason)}`) }
    : result;

const refused = (message: string, next?: string): Failed => ({ failure: failure("policy", message, next) });

type Wanted = Parameters<Orchestrator["run"]>[0];

class Desk {
  readonly #options: OrchestratorOptions;
  readonly #beginning = new Set<Promise<unknown>>();
  readonly #handles = new Set<RunHandle>();
  #isClosed = false;

  constructor(options: OrchestratorOptions) {
    this.#options = options;
  }

  /** Closing also waits for runs that are about to start. */
  async begin(start: () => Promise<RunHandle | Failed>): Promise<RunHandle | Failed> {
    if (this.#isClosed) return refused("this orchestrator was closed", "make another one");
    const beginning = safely(start);
    this.#beginning.add(beginning);
    try {
      return await beginning;
    } finally {
      this.#beginning.delete(beginning);
    }
  }

  async run({ goal: said, plan: given, base, signal = NEVER }: Wanted): Promise<RunHandle | Failed> {
    const plan = given === undefined ? undefined : planIn(given);
    if (plan && hasFailed(plan)) return plan;
    const goal = said ?? plan?.goal ?? "";
    const settings = this.#options.config ?? {};
    const configured = configOf(settings, base);
    if (hasFailed(configured)) return configured;
    const config = plan ? followingPlan(configured, plan, "workers" in settings) : configured;
    const parts = await this.#parts(signal);
    if (hasFailed(parts)) return parts;
    const agreed = await agreedFor(parts.project, this.#env, this.#options.trust, signal);
    if ("failure" in agreed) return agreed;
    const request = { goal: String(goal), config, agreed, ...this.#functions, ...(plan && { plan }) };
    return this.#going(parts, signal, (listeners) => beginRun({ ...request, ...listeners }, parts, signal));
  }

  async resume(run: string, signal: AbortSignal): Promise<RunHandle | Failed> {
    const parts = await this.#parts(signal);
    if (hasFailed(parts)) return parts;
    const home = await parts.project.runs.open(run);
    if (hasFailed(home)) return home;
    const seen = await seeRun(home);
    if (hasFailed(seen)) return seen;
    return this.#going(parts, signal, async (listeners) => {
      const request = { ...seen, ...listeners, ...this.#functions, reconfigure };
      const resumed = await resumeRun(request, parts, signal);
      if (hasFailed(resumed)) return resumed;
      if (resumed.is === "live") return { ...resumed, home };
      const { closed } = seen.seen.state;
      return closed
        ? misused(`run ${run} is closed: ${closed.how}`, "start a new run with what is left")
        : misused(`run ${run} is paused in another process`, "tell it there to go on");
    });
  }

  async runs(): Promise<readonly (RunListed | Failed)[] | Failed> {
    const project = await this.#open(NEVER);
    if (hasFailed(project)) return project;
    const records = await project.runs.list();
    return Promise.all(records.map((record) => (hasFailed(record) ? record : listed(project, record))));
  }

  async view(run: string) {
    const project = await this.#open(NEVER);
    if (hasFailed(project)) return project;
    const home = await project.runs.open(run);
    const seen = hasFailed(home) ? home : await seeRun(home);
    return hasFailed(seen) ? seen : viewOf(seen.seen);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#beginning);
    await Promise.all([...this.#handles].map((handle) => handle.stop()));
  }

  get #env() {
    return this.#options.env ?? process.env;
  }

  /** Empty if all agents are configured. */
  get #functions(): { readonly agents?: GivenAgents } {
    const { worker, planner } = this.#options;
    if (!worker && !planner) return {};
    return { agents: functionAgents({ ...(worker && { work: worker }), ...(planner && { plan: planner }) }) };
  }

  /** Undefined without a fleet. */
  get #fleet(): Config["fleet"] | Failed | undefined {
    const { config: settings = {} } = this.#options;
    if (settings.fleet?.enabled === undefined) return undefined;
    const config = configOf(settings, undefined);
    if (hasFailed(config)) return config;
    return config.fleet.enabled ? config.fleet : undefined;
  }

  async #open(signal: AbortSignal): Promise<Project | Failed> {
    const fleet = this.#fleet;
    if (fleet && hasFailed(fleet)) return fleet;
    const { repository, trust } = this.#options;
    const project = await openTrusted(path.resolve(repository), this.#env, trust, signal);
    if (hasFailed(project) || !fleet) return project;
    const { inFleet } = await import("../../compose/fleet.ts"); // Loaded only for a fleet.
    return inFleet(project, this.#env, fleet, signal);
  }

  async #parts(signal: AbortSignal): Promise<Parts | Failed> {
    if (this.#fleet && this.#functions.agents) return IMMOBILE;
    const project = await this.#open(signal);
    return hasFailed(project) ? project : partsOf(project, this.#env);
  }

  /** Starts a run, and stops it when its signal aborts or this orchestrator is closed. */
  async #going(
    parts: Parts,
    signal: AbortSignal,
    start: (listeners: RunListeners) => Promise<Started | Refused>,
  ): Promise<RunHandle | Failed> {
    const feed = new Feed();
    const live = await start({ watch: feed.watch });
    if (hasFailed(live)) return inOneLine(live);
    const handle = handleOf({ parts, live, feed });
    signal.addEventListener("abort", live.stopNow, { once: true });
    if (signal.aborted || this.#isClosed) live.stopNow();
    this.#handles.add(handle);
    void handle.ended.then(() => {
      signal.removeEventListener("abort", live.stopNow);
      this.#handles.delete(handle);
    });
    return handle;
  }
}

const IMMOBILE = refused(
  "the functions worker and planner cannot run on other machines of a fleet",
  "name the agents in config.agent and config.planner, or leave config.fleet out",
);

/** A failure has no separate lines, so lines that a terminal would show below it are appended. */
const inOneLine = ({ failure: why, lines = [] }: Refused): Failed => ({
  failure: lines.length === 0 ? why : { ...why, message: `${why.message}: ${lines.join("; ")}` },
});

function reconfigure(settings: unknown): Config | Refused {
  const read = fromSettings(settings);
  return "config" in read ? read.config : misconfigured(read.problems.map(problemText).join("; "), SEE_KEYS);
}

/** Refuses a plan that the command would refuse, with all its problems. */
function planIn(given: object): ExecutionPlan | Failed {
  const read = readValue(given);
  const wrong =
    read.is === "broken" ? read.problems : lintPlan(read.plan).filter(({ level }) => level === "error");
  if (read.is === "plan" && wrong.length === 0) return read.plan;
  const lines = wrong.map(({ place, message }) => `${place} ${message}`.trim());
  return refused(
    `the plan cannot be followed: ${lines.join("; ")}`,
    "docs/plan-files.md of Skein has the format",
  );
}

async function listed(project: Project, record: RunRecord): Promise<RunListed | Failed> {
  const home = await project.runs.open(record.run);
  if (hasFailed(home)) return home;
  const { settings: _, ...known } = record;
  return { ...known, isGoing: (await home.owner()) !== undefined };
}

/** Reads the settings like a file: the same keys, checks and messages. */
function configOf(settings: Settings, base: string | undefined): Config | Failed {
  if ("deliver" in settings)
    return refused("config: deliver is for the command", "call deliver() of a run that has ended");
  const text = JSON.stringify(base === undefined ? settings : { ...settings, base });
  const read = readConfig({ file: { name: ORIGIN, text }, env: {}, sets: [], flags: {} });
  return "problems" in read ? wrongSettings(read.problems.map(inConfig)) : read.config;
}

const ORIGIN = "config";

const inConfig = ({ key, message }: ConfigProblem) => problemText({ key, message, origin: ORIGIN });

const SEE_KEYS = "docs/configuration.md of Skein says what each key may be";

const wrongSettings = (lines: readonly string[]) => refused(lines.join("; "), SEE_KEYS);
