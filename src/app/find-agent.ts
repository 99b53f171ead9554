/** Finds an agent for a run: the configured one, else one by keys, programs and model servers on this machine. */

import {
  installOf,
  isTooOld,
  KNOWN_AGENTS,
  type KnownAgent,
  knownAgent,
  packageOf,
} from "../config/known-agents.ts";
import { KNOWN_PROVIDERS } from "../config/known-providers.ts";
import type { Config } from "../config/schema.ts";
import { anchored } from "../config/to-parts.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { ModelSpec } from "../core/model-spec.ts";
import type { AgentLooks } from "../ports/agent-looks.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { Environment } from "../ports/project.ts";

/** Something that could work, or nearly could. */
export type AgentCandidate = {
  readonly from: "keys" | "programs" | "servers";
  /** What was seen, in words: "ANTHROPIC_API_KEY is set". */
  readonly seen: string;
  /** Undefined if something is missing. */
  readonly spec?: AgentSpec;
  /** What is missing, as something to do. */
  readonly next?: string;
};

export type AgentFound = {
  /** The agent that will work: the configured one, or the first usable candidate. */
  readonly agent?: AgentSpec;
  /** Why this one, in words; undefined if it is configured. */
  readonly why?: string;
  /** All candidates, in the order of preference; empty if no search was needed. */
  readonly candidates: readonly AgentCandidate[];
};

export type FindAgentParts = { readonly env: Environment; readonly agents: AgentLooks };

/** Searches only if no agent is configured. */
export async function findAgent(
  config: Pick<Config, "agent" | "lookFor">,
  parts: FindAgentParts,
  signal: AbortSignal,
): Promise<AgentFound> {
  if (config.agent !== undefined) return { agent: config.agent, candidates: [] };
  const candidates = await agentsHere(config, parts, signal);
  const first = candidates.find(({ spec }) => spec !== undefined);
  if (first?.spec === undefined) return { candidates };
  return { agent: first.spec, why: first.seen, candidates };
}

/** The configuration with the agent in it, so that the run's record has it, and a resumed run uses it again. */
export const withAgent = (config: Config, agent: AgentSpec): Config => ({
  ...config,
  agent,
  planner: config.planner ?? agent,
});

/** All agents that could work on this machine, whatever is configured. */
export async function agentsHere(
  { lookFor }: Pick<Config, "lookFor">,
  parts: FindAgentParts,
  signal: AbortSignal,
): Promise<readonly AgentCandidate[]> {
  const looks = { keys: keysIn, programs: programsOn, servers: serversOf } as const;
  return (await Promise.all(lookFor.map((from) => looks[from](parts, signal)))).flat();
}

async function keysIn({ env }: FindAgentParts): Promise<readonly AgentCandidate[]> {
  return KNOWN_PROVIDERS.flatMap(({ name, keys, model }): readonly AgentCandidate[] => {
    const key = keys.find((variable) => env[variable]?.trim());
    if (key === undefined) return [];
    const seen = `${key} is set`;
    if (model === undefined) return [{ from: "keys", seen, next: `name a model: --model ${name}/…` }];
    return [{ from: "keys", seen, spec: { kind: "model", model: { provider: name, model }, fallbacks: [] } }];
  });
}

async function programsOn({ agents }: FindAgentParts): Promise<readonly AgentCandidate[]> {
  const isThere = async (program: string) =>
    (await agents.programs.unstartable([program], "/")) === undefined;
  const looked = KNOWN_AGENTS.map(async ({ name, command, npm, starts = [] }) => {
    const [program] = command;
    const next = `npm install --global ${npm}`;
    const missing = (seen: string): readonly AgentCandidate[] => [{ from: "programs", seen, next }];
    if (!(await isThere(program)))
      return program !== name && (await isThere(name))
        ? missing(`${name} is on the PATH, but not ${program}, which lets it work here`)
        : [];
    const seen = `${program} is on the PATH`;
    for (const one of starts)
      if (!(await isThere(one))) return missing(`${seen}, but not ${one}, which it starts`);
    return [{ from: "programs", seen, spec: { kind: "acp", name, command } } as const];
  });
  return (await Promise.all(looked)).flat();
}

async function serversOf(
  { agents }: FindAgentParts,
  signal: AbortSignal,
): Promise<readonly AgentCandidate[]> {
  return (await agents.models.servers(signal)).map(({ provider, place, models, isUsual }): AgentCandidate => {
    const [model] = models;
    const seen = `${provider} answers at ${place}`;
    if (model === undefined)
      return { from: "servers", seen: `${seen}, but has no model`, next: PULL[provider] ?? "load one there" };
    const spec: ModelSpec = { provider, model, ...(isUsual ? {} : { baseUrl: place }) };
    return { from: "servers", seen, spec: { kind: "model", model: spec, fallbacks: [] } };
  });
}

const PULL: Readonly<Record<string, string>> = { ollama: "ollama pull qwen3-coder" };

/** Why an agent cannot work: its program or its key is missing. */
export async function agentProblem(
  spec: AgentSpec,
  top: string,
  { programs, models }: Pick<AgentLooks, "programs" | "models">,
): Promise<Failure | undefined> {
  const own = anchored(spec, top);
  if (own.kind === "scripted") return undefined; // It needs no other program than this Node.
  if (own.kind === "model")
    return (await models.keyProblem(own.model)) ?? (await models.reachProblem(own.model));
  const problem = await programs.unstartable(own.command, top);
  const known = own.kind === "acp" ? knownAgent(own.name) : undefined;
  if (known === undefined) return problem;
  const starts = (known.starts ?? []).map((program) => programs.unstartable([program], top));
  for (const why of [problem, ...(await Promise.all(starts))])
    if (why) return { ...why, next: `npm install --global ${known.npm}` };
  const version = await programs.version(own.command[0], packageOf(known));
  return versionProblem(known, version) ?? nodeProblem(known, await programs.node());
}

/** Refuses only versions that are too old by a major number: whether another one works, its first session shows. */
function versionProblem(known: KnownAgent, version: string | undefined): Failure | undefined {
  if (version === undefined || !isTooOld(version, known.tried)) return undefined;
  return failure(
    "agent-failed",
    `${known.name} is too old: here is ${packageOf(known)} ${version}, and Skein was tried with ${known.tried}`,
    installOf(known),
  );
}

/** The agent runs on the Node of the PATH, not on Skein's. `found`: undefined on a machine too busy to answer. */
function nodeProblem({ name, node }: KnownAgent, found: string | undefined): Failure | undefined {
  if (node === undefined || found === undefined || Number.parseInt(found, 10) >= node) return undefined;
  return failure(
    "agent-failed",
    `${name} needs Node ${node} or newer; the node on the PATH is ${found}`,
    `put Node ${node} or newer first on the PATH`,
  );
}
