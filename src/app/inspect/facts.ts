/** Gathers the facts for `skein doctor`: all at once, each with a time limit, and with what cannot be seen. */
import path from "node:path";
import { defaultConfig, type ReadConfig } from "../../config/read.ts";
import type { Config } from "../../config/schema.ts";
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { AgentLooks, SandboxFacts } from "../../ports/agent-looks.ts";
import type {
  Disk,
  GitFacts,
  InspectedRepository,
  NamesFound,
  SessionFacts,
  SetupFacts,
  StateFacts,
  TreeFacts,
} from "../../ports/inspection.ts";
import type { Located } from "../../ports/project.ts";
import { type AgentFound, agentProblem, agentsHere, withAgent } from "../find-agent.ts";
import type { LoneParts } from "../lone-agent.ts";
import { lookAtStart, type StartReady } from "../look-at-start.ts";
import {
  NO_AGENT,
  type PriceFacts,
  pricesOf,
  promptsProblem,
  sandboxOf,
  unconfinedProblem,
  withUsableFallbacks,
} from "../ready-agents.ts";
import { type GateFacts, inspectGate } from "./gate.ts";
import { type Isolation, isolationOf } from "./isolation.ts";
import type { InspectParts, Settled } from "./parts.ts";
import { type Room, roomFor } from "./room.ts";

export type InspectRequest = {
  readonly folder: string;
  /** Reads the configuration, of the repository if there is one. */
  readonly configure: (located: Located | undefined) => Promise<InspectedConfig | Misconfigured>;
  /** Set if agents that speak ACP shall be started and asked for a session; the returned signal stops them. */
  readonly onSessions?: () => AbortSignal;
  /** The version and path of the Node that this runs on. */
  readonly node: DoctorFacts["node"];
  /** With `deliver`: the option that the run would get. */
  readonly intoCheckout?: boolean;
  /** The time limit of each look, in ms: a look that works at all takes far less. */
  readonly maxMs?: number;
};

/** `untrusted`: what its files ask for and nobody agreed to. The configuration leaves it out. */
type InspectedConfig = ReadConfig & { readonly untrusted?: Misconfigured };

export type Misconfigured = {
  readonly kind: "configuration";
  readonly message: string;
  readonly next?: string;
  /** Each mistake with its place. */
  readonly lines?: readonly string[];
};

/** Undefined: not looked at, because something that it needs is missing. */
export type DoctorFacts = {
  readonly node: { readonly version: string; readonly path: string };
  readonly git: GitFacts | Failed;
  readonly repository: InspectedRepository | Failed;
  readonly configuration: InspectedConfig | Misconfigured;
  /** Why a run that starts now would be refused, from the use case that refuses it. */
  readonly start?: Failed;
  /** The commit that a run would start from. */
  readonly base?: string | Failed;
  readonly agents?: readonly AgentFacts[] | Failed;
  /** The agent that would work, and all candidates. */
  readonly found?: AgentFound;
  /** Fallbacks that a run would leave out, and why. */
  readonly missing?: readonly string[];
  /** The sandbox of the built-in agent, if that is used. */
  readonly sandbox?: SandboxFacts;
  readonly prices?: { readonly models: readonly PriceFacts[]; readonly asOf: string };
  /** The configured folder of prompts. */
  readonly prompts?: { readonly folder: string; readonly problem?: Failure };
  /** Specialists that files of this repository describe. */
  readonly specialists?: NamesFound;
  /** MCP servers that `.mcp.json` names. */
  readonly mcp?: NamesFound;
  readonly gate?: GateFacts | Failed;
  /** How workspaces would get what has to be installed. */
  readonly setup?: SetupFacts | Failed;
  /** Why files in workspaces would differ from those here. */
  readonly filters?: Failed;
  readonly isolation: Isolation;
  readonly state: StateFacts | Failed;
  readonly repositoryDisk?: Disk;
  readonly tree?: TreeFacts;
  readonly room?: Room;
};

export async function gatherFacts(request: InspectRequest, parts: InspectParts): Promise<DoctorFacts> {
  const { folder, node } = request;
  const limited = limiter(request.maxMs ?? MAX_MS);
  const [git, repository] = await Promise.all([
    limited("git", (limit) => parts.repository.git(folder, limit)),
    limited("the repository", (limit) => parts.repository.around(folder, limit)),
  ]);
  const located = hasFailed(repository) ? undefined : repository;
  const configuration = await limited("the configuration", () => request.configure(located)).then((read) =>
    hasFailed(read) ? { kind: "configuration" as const, message: read.failure.message } : read,
  );
  const isRead = "config" in configuration;
  const config = isRead ? configuration.config : defaultConfig();
  // Without a repository, the state folder cannot be inside one, so a path stands for it that contains nothing.
  const around = located === undefined ? path.join(folder, ".git", "none") : folder;
  const state = limited("the state folder", () => parts.places.state(located, around));
  const always = { node, git, repository, configuration };
  if (located === undefined) return { ...always, isolation: isolationOf(config), state: await state };
  const base = await limited("the base", async (limit) =>
    config.base === "HEAD" ? located.head : parts.repository.commit(located, config.base, limit),
  );
  const commit = typeof base === "string" ? base : located.head;
  const found = isRead
    ? known(await limited("who is here", (limit) => lookAround(config, parts, limit)))
    : undefined;
  const wanted = found?.agent ? withAgent(config, found.agent) : config;
  const { config: usable, missing } = await withUsableFallbacks(wanted, parts.agents);
  const settled = { located, config: usable };
  const { filters: allowed } = usable.workspace;
  const [start, agents, others, gate, setup, filters, tree, disk] = await Promise.all([
    isRead
      ? limited("what a run looks at first", (limit) => dryStart(request, config, parts, limit))
      : undefined,
    isRead ? limited("the agents", () => agentsOf(settled, parts)) : undefined,
    isRead ? limited("what agents have", () => partsOf(settled, parts)) : undefined,
    isRead ? limited("the gate", (limit) => inspectGate(settled, commit, parts, limit)) : undefined,
    limited("the set-up", (limit) => parts.workspaces.setup(located, commit, limit)),
    limited("the filters of git", async (limit) => {
      const look = { located, commit, allowed };
      const problem = isRead ? await parts.workspaces.filterProblem(look, limit) : undefined;
      return problem && { failure: problem };
    }),
    limited("the files", (limit) => parts.repository.tree(located, commit, limit)),
    limited("the disk", () => parts.places.disk(located.gitDir)),
  ]);
  const { sandbox, ...more } = known(others) ?? {};
  const seen = await state; // Awaited first, because a started agent needs a folder there for a moment.
  const { onSessions } = request;
  const isTried = onSessions && agents && !hasFailed(agents) && !hasFailed(seen);
  const tried = isTried
    ? await withSessions(agents, usable, parts.alone({ located, stateFolder: seen.folder }), onSessions())
    : agents;
  return {
    ...{ ...always, ...more, missing, base, state: seen },
    ...(sandbox && { sandbox }),
    ...(found && { found }),
    ...(start && hasFailed(start) && { start }),
    isolation: isolationOf(usable, sandbox?.level),
    ...(tried && { agents: tried }),
    ...(gate && { gate }),
    ...(setup && { setup }),
    ...(filters && { filters }),
    ...(disk && !hasFailed(disk) && { repositoryDisk: disk }),
    ...(tree && !hasFailed(tree) && { tree, room: roomFor(tree, config) }),
  };
}

async function dryStart(
  { folder, intoCheckout = false }: InspectRequest,
  config: Config,
  { start }: InspectParts,
  signal: AbortSignal,
): Promise<StartReady | Failed> {
  const parts = await start(folder, signal);
  return hasFailed(parts) ? parts : lookAtStart({ config, mayFindAgent: true, intoCheckout }, parts, signal);
}

/** In ms: enough for the git status of a huge checkout on a slow disk. */
const MAX_MS = 30_000;

/** Runs a look with a time limit; an error or a timeout becomes a failure. */
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
      return { failure: failure("repository", `${what} cannot be inspected: ${messageOf(error)}`) };
    } finally {
      clearTimeout(timer);
    }
  };

const known = <Result extends object>(seen: Result | Failed | undefined): Result | undefined =>
  seen === undefined || hasFailed(seen) ? undefined : (seen as Result);

/** Looks for all agents, even if one is configured. */
async function lookAround(config: Config, parts: InspectParts, signal: AbortSignal): Promise<AgentFound> {
  const candidates = await agentsHere(config, parts, signal);
  const first = config.agent === undefined ? candidates.find(({ spec }) => spec !== undefined) : undefined;
  const agent = config.agent ?? first?.spec;
  return { ...(agent && { agent }), ...(first && { why: first.seen }), candidates };
}

async function partsOf(
  { located: { top }, config }: Settled,
  { agents, roles }: InspectParts,
): Promise<Pick<DoctorFacts, "sandbox" | "prices" | "prompts" | "specialists" | "mcp">> {
  const { prompts: folder } = config;
  const [sandbox, prices, problem, specialists, mcp] = await Promise.all([
    sandboxOf(config, agents),
    pricesOf(config, agents),
    promptsProblem(config, top, agents),
    roles.specialists(top),
    [config.agent, config.planner].some((spec) => typeof spec === "object" && spec.kind === "acp")
      ? roles.mcpServers(top, config.workspace.pass)
      : { names: [], problems: [] },
  ]);
  const open = unconfinedProblem(config);
  return {
    ...(sandbox && { sandbox: { ...(open && { problem: open }), ...sandbox } }),
    ...{ prices, specialists, mcp },
    ...(folder !== undefined && { prompts: { folder, ...(problem && { problem }) } }),
  };
}

export type AgentFacts = {
  readonly role: "worker" | "planner";
  readonly spec: Config["planner"];
  readonly problem?: Failure;
  /** Of an agent that was started. */
  readonly session?: SessionFacts;
};

/** The worker, and the planner if it is another agent. */
function agentsOf({ located: { top }, config }: Settled, { agents }: InspectParts) {
  const { agent, planner } = config;
  const look = async (role: AgentFacts["role"], spec: Config["planner"]): Promise<AgentFacts> => {
    if (spec === "none") return { role, spec };
    const problem = spec
      ? ((await agentProblem(spec, top, agents)) ?? (await scriptProblem(spec, top, agents)))
      : NO_AGENT;
    return { role, spec, ...(problem && { problem }) };
  };
  const isSame = JSON.stringify(planner ?? agent) === JSON.stringify(agent);
  return Promise.all([look("worker", agent), ...(isSame ? [] : [look("planner", planner)])]);
}

/** Reads a scripted agent's script, because it may be wrong before the agent starts. */
async function scriptProblem(
  spec: Exclude<Config["agent"], undefined>,
  top: string,
  { script: look }: AgentLooks,
): Promise<Failure | undefined> {
  const wrong = spec.kind === "scripted" ? await look(path.resolve(top, spec.script)) : [];
  if (spec.kind !== "scripted" || wrong.length === 0) return undefined;
  const message =
    wrong === "missing"
      ? `there is no script ${spec.script}`
      : `the script ${spec.script} cannot be used: ${wrong[0]}`;
  return failure("agent-failed", message, "name a script that can be read");
}

/** As in a run, in ms: a first start takes up to 12 s, on a busy machine twice that. */
const MAX_SESSION_MS = 60_000;

/** Tries the sessions of agents that speak ACP and can be started; returns when nothing of them is left. */
async function withSessions(
  agents: readonly AgentFacts[],
  config: Config,
  { openAlone }: Pick<LoneParts, "openAlone">,
  signal: AbortSignal,
): Promise<readonly AgentFacts[] | Failed> {
  const tried = agents.map(async (agent): Promise<AgentFacts> => {
    const { spec } = agent;
    if (agent.problem !== undefined || typeof spec !== "object" || spec.kind !== "acp") return agent;
    const alone = await openAlone(config, spec);
    if (hasFailed(alone)) return { ...agent, session: { ms: 0 }, problem: alone.failure };
    const session = await alone.trySession(MAX_SESSION_MS, signal).finally(() => alone.close());
    return { ...agent, session, ...(session.problem && { problem: session.problem }) };
  });
  return Promise.all(tried).catch((error: unknown) => ({
    failure: failure("repository", `the agents cannot be inspected: ${messageOf(error)}`),
  }));
}

/** `bad`: no run could start. `warn`: it could, but not as one may expect. */
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
