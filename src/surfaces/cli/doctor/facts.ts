/** What `skein doctor` looks at: everything at once, each with a time limit; what cannot be seen is reported, not thrown. */
import path from "node:path";
import type { SandboxFacts } from "../../../app/agent-looks.ts";
import { type AgentFound, agentsHere, withAgent } from "../../../app/find-agent.ts";
import {
  type PriceFacts,
  pricesOf,
  promptsProblem,
  sandboxOf,
  unconfinedProblem,
  withUsableFallbacks,
} from "../../../app/ready-agents.ts";
import { agentLooks } from "../../../compose/agent-looks.ts";
import { filterProblem } from "../../../compose/world.ts";
import {
  type AgentFacts,
  commitOf,
  type Disk,
  type Environment,
  type GateFacts,
  type GitFacts,
  type InspectedRepository,
  type Isolation,
  inspectAgents,
  inspectDisk,
  inspectGate,
  inspectGit,
  inspectMcp,
  inspectRepository,
  inspectSessions,
  inspectSetup,
  inspectSpecialists,
  inspectState,
  inspectTree,
  isolationOf,
  type McpFacts,
  roomFor,
  type Settled,
  type SetupFacts,
  type SpecialistFacts,
  type StateFacts,
  type TreeFacts,
} from "../../../compose.ts";
import type { Config, ReadConfig } from "../../../config/index.ts";
import { type Failure, failure, messageOf } from "../../../core/failure.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import { stopOnSignal } from "../acts/signals.ts";
import type { DoctorOptions } from "../commands/options.ts";
import { defaultConfig, type Misconfigured, readHere } from "../configuration.ts";
import type { Context } from "../context.ts";

/** Undefined: not looked at, because something before it is not there. */
export type DoctorFacts = {
  readonly node: { readonly version: string; readonly path: string };
  readonly git: GitFacts | Failed;
  readonly repository: InspectedRepository | Failed;
  readonly configuration: ReadConfig | Misconfigured;
  /** The commit that a run would start from. */
  readonly base?: string | Failed;
  readonly agents?: readonly AgentFacts[] | Failed;
  /** Who would work, and everybody who could. */
  readonly found?: AgentFound;
  /** Fallbacks that a run would leave out, and why. */
  readonly missing?: readonly string[];
  /** Of the built-in agent, where it has a part. */
  readonly sandbox?: SandboxFacts;
  readonly prices?: { readonly models: readonly PriceFacts[]; readonly asOf: string };
  /** Of the folder that is configured. */
  readonly prompts?: { readonly folder: string; readonly problem?: Failure };
  /** Roles that files of this repository describe. */
  readonly specialists?: SpecialistFacts;
  /** Servers that `.mcp.json` names. */
  readonly mcp?: McpFacts;
  readonly gate?: GateFacts | Failed;
  /** How workspaces would get what has to be installed. */
  readonly setup?: SetupFacts | Failed;
  /** Why workspaces would not have the files as they are here. */
  readonly filters?: Failed;
  readonly isolation: Isolation;
  readonly state: StateFacts | Failed;
  readonly repositoryDisk?: Disk;
  readonly tree?: TreeFacts;
  readonly room?: { readonly workspaces: number; readonly bytes: number };
};

/** What works at all answers in far less than `maxMs`; what does not is not waited for. */
export async function gatherFacts(
  context: Context,
  options: DoctorOptions,
  maxMs: number = MAX_MS,
): Promise<DoctorFacts> {
  const limited = limiter(maxMs);
  const folder = path.resolve(context.folder, options.repo ?? ".");
  const { env } = context;
  const [git, repository] = await Promise.all([
    limited("git", (signal) => inspectGit(folder, signal)),
    limited("the repository", (signal) => inspectRepository(folder, signal)),
  ]);
  const located = hasFailed(repository) ? undefined : repository;
  const configuration = await limited("the configuration", () => readHere(context, located, options)).then(
    (read) => (hasFailed(read) ? { kind: "configuration" as const, message: read.failure.message } : read),
  );
  const config = "config" in configuration ? configuration.config : defaultConfig();
  const node = { version: process.versions.node, path: process.execPath };
  // Where there is no repository, the state folder is inside none: no folder that could hold it stands for one.
  const around = located === undefined ? path.join(folder, ".git", "none") : folder;
  const state = limited("the state folder", () => inspectState(located, around, env));
  const always = { node, git, repository, configuration };
  if (located === undefined) return { ...always, isolation: isolationOf(config), state: await state };
  const base = await limited("the base", async (signal) =>
    config.base === "HEAD" ? located.head : commitOf({ located }, config.base, signal),
  );
  const commit = typeof base === "string" ? base : located.head;
  const isRead = "config" in configuration;
  const found = isRead
    ? known(await limited("who is here", (signal) => lookAround(config, env, signal)))
    : undefined;
  const wanted = found?.agent ? withAgent(config, found.agent) : config;
  const { config: usable, missing } = await withUsableFallbacks(wanted, agentLooks(env));
  const settled = { located, config: usable, env };
  const [agents, parts, gate, setup, filters, tree, disk] = await Promise.all([
    isRead ? limited("the agents", () => agentsOf(settled)) : undefined,
    isRead ? limited("what agents have", () => partsOf(settled)) : undefined,
    isRead ? limited("the gate", (signal) => inspectGate(settled, commit, signal)) : undefined,
    limited("the set-up", (signal) => inspectSetup(located, commit, signal)),
    limited("the filters of git", async (signal) => {
      const problem = isRead ? await filterProblem(settled, settled.config, commit, signal) : undefined;
      return problem && { failure: problem };
    }),
    limited("the files", (signal) => inspectTree(located, commit, signal)),
    limited("the disk", () => inspectDisk(located.gitDir)),
  ]);
  const { sandbox, ...others } = known(parts) ?? {};
  const seen = await state; // An agent that is started needs a place there for a moment.
  const tried = isNamed(options) && agents && !hasFailed(agents) ? await sessionsOf(settled, agents) : agents;
  return {
    ...always,
    ...others,
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(found === undefined ? {} : { found }),
    missing,
    isolation: isolationOf(settled.config, sandbox?.level),
    base,
    ...(tried === undefined ? {} : { agents: tried }),
    ...(gate === undefined ? {} : { gate }),
    ...(setup && { setup }),
    ...(filters && { filters }),
    state: seen,
    ...(disk === undefined || hasFailed(disk) ? {} : { repositoryDisk: disk }),
    ...(tree === undefined || hasFailed(tree) ? {} : { tree, room: roomFor(tree, config) }),
  };
}

/** A look at the status of a huge checkout on a slow disk. */
const MAX_MS = 30_000;

/** What it came to, or that it came to nothing: also if it throws, or does not end. */
const limiter =
  (maxMs: number) =>
  async <Result>(what: string, look: (signal: AbortSignal) => Promise<Result>): Promise<Result | Failed> => {
    const { promise: late, resolve } = Promise.withResolvers<Failed>();
    const stop = new AbortController();
    const timer = setTimeout(() => {
      resolve({ failure: failure("repository", `${what} did not answer within ${maxMs / 1_000} s`) });
      stop.abort();
    }, maxMs);
    try {
      return await Promise.race([look(stop.signal), late]);
    } catch (error) {
      return { failure: failure("repository", `${what} cannot be looked at: ${messageOf(error)}`) };
    } finally {
      clearTimeout(timer);
    }
  };

const known = <Result extends object>(seen: Result | Failed | undefined): Result | undefined =>
  seen === undefined || hasFailed(seen) ? undefined : (seen as Result);

/** Everybody, also if somebody is configured. */
async function lookAround(config: Config, env: Environment, signal: AbortSignal): Promise<AgentFound> {
  const candidates = await agentsHere(config, { env, agents: agentLooks(env) }, signal);
  const first = config.agent === undefined ? candidates.find(({ spec }) => spec !== undefined) : undefined;
  const agent = config.agent ?? first?.spec;
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(first === undefined ? {} : { why: first.seen }),
    candidates,
  };
}

async function partsOf({
  located,
  config,
  env,
}: Settled): Promise<Pick<DoctorFacts, "sandbox" | "prices" | "prompts" | "specialists" | "mcp">> {
  const { prompts: folder } = config;
  const looks = agentLooks(env);
  const [sandbox, prices, problem, specialists, mcp] = await Promise.all([
    sandboxOf(config, looks),
    pricesOf(config, looks),
    promptsProblem(config, located.top, looks),
    inspectSpecialists(located.top),
    inspectMcp(config, env, located.top),
  ]);
  const open = unconfinedProblem(config);
  return {
    ...(sandbox === undefined ? {} : { sandbox: { ...(open && { problem: open }), ...sandbox } }),
    prices,
    specialists,
    mcp,
    ...(folder === undefined ? {} : { prompts: { folder, ...(problem === undefined ? {} : { problem }) } }),
  };
}

/** Whoever names an agent to `doctor` wants to know more than that it is there. */
const isNamed = ({ agent, planner }: DoctorOptions): boolean => agent !== undefined || planner !== undefined;

/** Has limits of its own: it is waited for until nothing of it is left. */
async function sessionsOf(settled: Settled, agents: readonly AgentFacts[]) {
  try {
    using stopping = stopOnSignal();
    return await inspectSessions(settled, agents, stopping.signal);
  } catch (error) {
    return { failure: failure("repository", `the agents cannot be looked at: ${messageOf(error)}`) };
  }
}

/** A script is looked into as well: it is an agent that can be wrong before it starts. */
async function agentsOf(settled: Settled): Promise<readonly AgentFacts[]> {
  const agents = await inspectAgents(settled);
  const { top } = settled.located;
  return Promise.all(
    agents.map(async (agent) => {
      const { spec, problem } = agent;
      if (problem !== undefined || typeof spec !== "object" || spec.kind !== "scripted") return agent;
      const wrong = await agentLooks(settled.env).script(path.resolve(top, spec.script));
      if (wrong.length === 0) return agent;
      const message =
        wrong === "missing"
          ? `there is no script ${spec.script}`
          : `the script ${spec.script} cannot be used: ${wrong[0]}`;
      return { ...agent, problem: failure("agent-failed", message, "name a script that can be read") };
    }),
  );
}

/** `bad`: no run could start. `warn`: it could, but not as one might think. */
export type DoctorFinding = {
  readonly name: string;
  readonly level: "ok" | "warn" | "bad";
  readonly text: string;
  /** What to do about it. */
  readonly next?: string;
};

export type Check = (facts: DoctorFacts) => readonly DoctorFinding[];

export const ok = (name: string, text: string): DoctorFinding => ({ name, level: "ok", text });
export const warn = (name: string, text: string, next?: string): DoctorFinding =>
  withNext({ name, level: "warn", text }, next);
export const bad = (name: string, text: string, next?: string): DoctorFinding =>
  withNext({ name, level: "bad", text }, next);
const withNext = (finding: DoctorFinding, next: string | undefined): DoctorFinding =>
  next === undefined ? finding : { ...finding, next };
