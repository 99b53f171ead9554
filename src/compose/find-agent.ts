/** Who could work here? What the configuration names, else what is there: keys, programs, a model server. */
import { whyUnstartable } from "../adapters/programs/command.ts";
import type { AgentSpec } from "../config/commands.ts";
import { KNOWN_PROVIDERS } from "../config/known-providers.ts";
import type { Config } from "../config/schema.ts";
import { KNOWN_AGENTS } from "../core/known-agents.ts";
import type { ModelSpec } from "../core/model-spec.ts";
import { localModels } from "./local-models.ts";
import type { Environment } from "./project.ts";

/** Something that could work, or nearly. */
export type Candidate = {
  readonly from: "keys" | "programs" | "servers";
  /** What was seen, in words: "ANTHROPIC_API_KEY is set". */
  readonly seen: string;
  /** Undefined where something is missing. */
  readonly spec?: AgentSpec;
  /** What is missing, as something to do. */
  readonly next?: string;
};

export type Found = {
  /** Who will work: as configured, or the first candidate that can. */
  readonly agent?: AgentSpec;
  /** Why this one, in words; undefined if it is configured. */
  readonly why?: string;
  /** Everything that was seen, in the order in which it would be taken; empty if nobody had to look. */
  readonly candidates: readonly Candidate[];
};

/** Looks only if no agent is configured. */
export async function findAgent(config: Config, env: Environment, signal: AbortSignal): Promise<Found> {
  if (config.agent !== undefined) return { agent: config.agent, candidates: [] };
  const candidates = await agentsHere(config, env, signal);
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

/** Without fallbacks whose key is missing: they would be waited for in vain. Says which. */
export async function withUsableFallbacks(
  config: Config,
  env: Environment,
): Promise<{ readonly config: Config; readonly missing: readonly string[] }> {
  const { keyProblem } = await import("../adapters/models/providers.ts");
  const missing = new Set<string>();
  const isUsable = (spec: ModelSpec) => {
    const problem = keyProblem(spec, env);
    if (problem) missing.add(`the fallback ${spec.provider}/${spec.model} is left out: ${problem.message}`);
    return problem === undefined;
  };
  const usable = <Spec extends Config["planner"]>(spec: Spec): Spec =>
    typeof spec === "object" && spec.kind === "model"
      ? { ...spec, fallbacks: spec.fallbacks.filter(isUsable) }
      : spec;
  const { agent, planner, fallback } = config;
  const settled = {
    ...config,
    ...(agent === undefined ? {} : { agent: usable(agent) }),
    ...(planner === undefined ? {} : { planner: usable(planner) }),
    fallback: fallback.filter(isUsable),
  };
  return { config: settled, missing: [...missing] };
}

/** Everything that could work on this machine, whatever is configured. */
export async function agentsHere(
  { lookFor }: Pick<Config, "lookFor">,
  env: Environment,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  const looks = { keys: keysIn, programs: programsOn, servers: serversOf } as const;
  return (await Promise.all(lookFor.map((from) => looks[from](env, signal)))).flat();
}

async function keysIn(env: Environment): Promise<readonly Candidate[]> {
  return KNOWN_PROVIDERS.flatMap(({ name, keys, model }): readonly Candidate[] => {
    const key = keys.find((variable) => env[variable]?.trim());
    if (key === undefined) return [];
    const seen = `${key} is set`;
    if (model === undefined) return [{ from: "keys", seen, next: `name a model: --model ${name}/…` }];
    return [{ from: "keys", seen, spec: { kind: "model", model: { provider: name, model }, fallbacks: [] } }];
  });
}

async function programsOn(env: Environment): Promise<readonly Candidate[]> {
  const isThere = async (program: string) =>
    (await whyUnstartable({
      command: [program],
      folder: "/",
      environment: { PATH: env["PATH"] ?? "" },
    })) === undefined;
  const looked = KNOWN_AGENTS.map(async (known): Promise<readonly Candidate[]> => {
    const { name, command, npm, starts = [] } = known;
    const [program] = command;
    const next = `npm install --global ${npm}`;
    if (await isThere(program)) {
      const [absent] = (
        await Promise.all(starts.map(async (one) => ((await isThere(one)) ? [] : one)))
      ).flat();
      const seen = `${program} is on the PATH`;
      return absent === undefined
        ? [{ from: "programs", seen, spec: { kind: "acp", name, command } }]
        : [{ from: "programs", seen: `${seen}, but not ${absent}, which it starts`, next }];
    }
    if (program === name || !(await isThere(name))) return [];
    return [
      { from: "programs", seen: `${name} is on the PATH, but not ${program}, which lets it work here`, next },
    ];
  });
  return (await Promise.all(looked)).flat();
}

async function serversOf(env: Environment, signal: AbortSignal): Promise<readonly Candidate[]> {
  return (await localModels(env, signal)).map(({ provider, place, models, isUsual }): Candidate => {
    const [model] = models;
    const seen = `${provider} answers at ${place}`;
    if (model === undefined)
      return { from: "servers", seen: `${seen}, but has no model`, next: PULL[provider] ?? "load one there" };
    const spec = { provider, model, ...(isUsual ? {} : { baseUrl: place }) };
    return { from: "servers", seen, spec: { kind: "model", model: spec, fallbacks: [] } };
  });
}

const PULL: Readonly<Record<string, string>> = { ollama: "ollama pull qwen3-coder" };
