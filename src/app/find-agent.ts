/** Who could work here? What the configuration names, else what is there: keys, programs, a model server. */

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

/** Something that could work, or nearly. */
export type AgentCandidate = {
  readonly from: "keys" | "programs" | "servers";
  /** What was seen, in words: "ANTHROPIC_API_KEY is set". */
  readonly seen: string;
  /** Undefined where something is missing. */
  readonly spec?: AgentSpec;
  /** What is missing, as something to do. */
  readonly next?: string;
};

export type AgentFound = {
  /** Who will work: as configured, or the first candidate that can. */
  readonly agent?: AgentSpec;
  /** Why this one, in words; undefined if it is configured. */
  readonly why?: string;
  /** Everything that was seen, in the order in which it would be taken; empty if no search was needed. */
  readonly candidates: readonly AgentCandidate[];
};

export type FindAgentParts = { readonly env: Environment; readonly agents: AgentLooks };

/** Looks only if no agent is configured. */
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

/** The same with the agent in its place, so that the run keeps it, and goes on with it when it is resumed. */
export const withAgent = (config: Config, agent: AgentSpec): Config => ({
  ...config,
  agent,
  planner: config.planner ?? agent,
});

/** Everything that could work on this machine, whatever is configured. */
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

/** Why an agent cannot work: its program is not there, or its key. */
export async function agentProblem(
  spec: AgentSpec,
  top: string,
  { programs, models }: Pick<AgentLooks, "programs" | "models">,
): Promise<Failure | undefined> {
  const own = anchored(spec, top);
  if (own.kind === "scripted") return undefined; // It runs on this very Node.
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

/** Only what is too old by a major version is refused: whether any other works is for its first session to show. */
function versionProblem(known: KnownAgent, version: string | undefined): Failure | undefined {
  if (version === undefined || !isTooOld(version, known.tried)) return undefined;
  return failure(
    "agent-failed",
    `${known.name} is too old: here is ${packageOf(known)} ${version}, and Skein was tried with ${known.tried}`,
    installOf(known),
  );
}

/** It runs on the Node of the PATH, whichever Node Skein runs on. `found`: undefined on a machine too busy to answer. */
function nodeProblem({ name, node }: KnownAgent, found: string | undefined): Failure | undefined {
  if (node === undefined || found === undefined || Number.parseInt(found, 10) >= node) return undefined;
  return failure(
    "agent-failed",
    `${name} needs Node ${node} or newer; the node on the PATH is ${found}`,
    `put Node ${node} or newer first on the PATH`,
  );
}
