/** How does a program start runs in a repository, find them again, and go on with them? */
import path from "node:path";
import {
  agentProblem,
  baseOf,
  createRun,
  discardRun,
  functionAgents,
  type GivenAgents,
  gateOf,
  inspectSandbox,
  openProject,
  type Project,
  promptsProblem,
  startRun,
  tidyRun,
  unconfinedProblem,
} from "../../compose.ts";
import { type Config, fromSettings, type Problem, problemText, readConfig } from "../../config/index.ts";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import { nothingSeen, type Seen, see } from "../../core/view.ts";
import { readValue } from "../../planning/files/read-plan.ts";
import { lintPlan } from "../../planning/lint.ts";
import type { ExecutionPlan } from "../../planning/plan.ts";
import { type Failed, hasFailed } from "../../ports/repository.ts";
import type { RunHome, RunRecord } from "../../ports/runs.ts";
import { Feed, handleOf, printableView } from "./run-handle.ts";
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

/** A defect, or a disk that fails where nobody expects it. */
async function safely<T>(act: () => Promise<T>): Promise<T | Failed> {
  try {
    return await act();
  } catch (error) {
    return { failure: failure("repository", `it broke: ${messageOf(error)}`, "try again, or report it") };
  }
}

/** Whatever fails then, fails for that reason. */
const unlessStopped = <T extends object>(result: T | Failed, signal: AbortSignal | undefined): T | Failed =>
  signal?.aborted && hasFailed(result)
    ? { failure: failure("interrupted", `stopped before it began: ${messageOf(signal.reason)}`) }
    : result;

const refused = (message: string, next?: string): Failed => ({ failure: failure("policy", message, next) });

type Wanted = Parameters<Orchestrator["run"]>[0];

class Desk {
  readonly #options: OrchestratorOptions;
  readonly #beginning = new Set<Promise<unknown>>();
  readonly #going = new Set<RunHandle>();
  #isClosed = false;

  constructor(options: OrchestratorOptions) {
    this.#options = options;
  }

  /** Whoever closes it waits also for what is only about to go on. */
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
    const goal = said ?? plan?.goal;
    if (typeof goal !== "string" || goal.trim() === "")
      return refused("the goal is empty", "say what is to be done");
    const configured = configOf(this.#options.config ?? {}, base);
    if (hasFailed(configured)) return configured;
    const config = plan ? followsPlan(configured, plan, this.#options.config) : configured;
    const project = await this.#open(signal);
    if (hasFailed(project)) return project;
    const problem = (await this.#agentProblem(project, config)) ?? unconfinedProblem(config);
    if (problem) return { failure: problem };
    const from = await baseOf(project, config.base, signal);
    if (hasFailed(from)) return from;
    const gate = await gateOf(project, config, from.base, signal);
    if (hasFailed(gate)) return gate;
    const home = await createRun(project, { goal, ...from, config, ...(plan && { plan }) });
    if (hasFailed(home)) return home;
    const handle = await this.#start(project, home, config, signal);
    if (hasFailed(handle)) await discardRun(home);
    return handle;
  }

  async resume(run: string, signal: AbortSignal): Promise<RunHandle | Failed> {
    const project = await this.#open(signal);
    if (hasFailed(project)) return project;
    const home = await project.runs.open(run);
    if (hasFailed(home)) return home;
    const read = fromSettings(home.record.settings);
    if ("problems" in read) return wrongSettings(read.problems.map(problemText));
    const { config } = read;
    const { closed } = (await seenOf(home)).state;
    if (closed) {
      await tidyRun(project, home, { config, env: this.#env }); // It may have been killed before its last broom.
      return refused(`run ${run} is closed: ${closed.how}`, "start a new run with what is left");
    }
    const problem = await this.#agentProblem(project, config);
    return problem ? { failure: problem } : this.#start(project, home, config, signal);
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
    return hasFailed(home) ? home : printableView(await seenOf(home));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#beginning);
    await Promise.all([...this.#going].map((handle) => handle.stop()));
  }

  get #env() {
    return this.#options.env ?? process.env;
  }

  #open(signal: AbortSignal): Promise<Project | Failed> {
    return openProject(path.resolve(this.#options.repository), this.#env, signal);
  }

  /** Better said before a run begins than by its tenth planner. */
  async #agentProblem(project: Project, config: Config): Promise<Failure | undefined> {
    const sandbox = await inspectSandbox(config, this.#env);
    return (
      (await this.#whoProblem(project, config)) ??
      sandbox?.problem ??
      (await promptsProblem(config, project.located.top))
    );
  }

  /** What a function does need not be configured, and is not looked for. */
  async #whoProblem(project: Project, config: Config): Promise<Failure | undefined> {
    const { worker, planner } = this.#options;
    const configured = planner ? "none" : config.planner;
    if (!worker && config.agent === undefined)
      return failure("agent-unreachable", "nobody is there to work", "give a worker, or config.agent");
    if (!worker) return agentProblem(project, { ...config, planner: configured ?? "none" }, this.#env);
    if (configured === undefined || configured === "none") return undefined;
    return agentProblem(project, { ...config, agent: configured, planner: "none" }, this.#env);
  }

  /** Without any planner, the worker function gets the whole goal: it does not plan. */
  #agents({ planner: configured }: Config): GivenAgents {
    const { worker, planner } = this.#options;
    const given = functionAgents({ ...(worker && { work: worker }), ...(planner && { plan: planner }) });
    return worker && !planner && configured === undefined ? { ...given, planner: "none" } : given;
  }

  async #start(
    project: Project,
    home: RunHome,
    config: Config,
    signal: AbortSignal,
  ): Promise<RunHandle | Failed> {
    const feed = new Feed(home.log);
    const env = this.#env;
    const options = { config, env, watch: () => {}, around: feed.around, agents: this.#agents(config) };
    const live = await startRun(project, home, options, signal);
    if (hasFailed(live)) return live;
    const handle = handleOf({ project, home, config, env, live, feed });
    signal.addEventListener("abort", live.stopNow, { once: true });
    if (signal.aborted || this.#isClosed) live.stopNow();
    this.#going.add(handle);
    void handle.ended.then(() => {
      signal.removeEventListener("abort", live.stopNow);
      this.#going.delete(handle);
    });
    return handle;
  }
}

/** One that the command would refuse is refused here, with all that is wrong with it. */
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

/** Nobody plans, and it says itself how many may work at once. */
const followsPlan = (config: Config, plan: ExecutionPlan, settings: Settings = {}): Config => ({
  ...config,
  planner: "none",
  ...("workers" in settings ? {} : { workers: plan.max_concurrent }),
});

async function listed(project: Project, record: RunRecord): Promise<RunListed | Failed> {
  const home = await project.runs.open(record.run);
  if (hasFailed(home)) return home;
  const { settings: _, ...known } = record;
  return { ...known, isGoing: (await home.owner()) !== undefined };
}

async function seenOf(home: RunHome): Promise<Seen> {
  const seen = nothingSeen();
  for await (const event of home.log.read(0)) see(seen, event);
  return seen;
}

/** As if it were a file: the same keys, the same checks, the same words. */
function configOf(settings: Settings, base: string | undefined): Config | Failed {
  if ("deliver" in settings)
    return refused("config: deliver is for the command", "call deliver() of a run that has ended");
  const text = JSON.stringify(base === undefined ? settings : { ...settings, base });
  const read = readConfig({ file: { name: ORIGIN, text }, env: {}, sets: [], flags: {} });
  return "problems" in read ? wrongSettings(read.problems.map(inConfig)) : read.config;
}

const ORIGIN = "config";

/** It has no lines: the key says where it is. */
const inConfig = ({ key, message }: Problem) => problemText({ key, message, origin: ORIGIN });

const wrongSettings = (lines: readonly string[]) =>
  refused(lines.join("; "), "docs/configuration.md of Skein says what each key may be");
