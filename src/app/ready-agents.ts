/** Checks before a run whether its agents can work, and within its budgets. */
import path from "node:path";
import { fallbacksOf } from "../config/accounts.ts";
import type { Config } from "../config/schema.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { ModelSpec } from "../core/model-spec.ts";
import { hasFailed } from "../core/result.ts";
import type { AgentLooks, SandboxFacts } from "../ports/agent-looks.ts";
import type { Project } from "../ports/project.ts";
import { dollarsKey, PRICE_WAYS, tooSmall } from "./budget-words.ts";
import {
  type AgentCandidate,
  agentProblem,
  type FindAgentParts,
  findAgent,
  withAgent,
} from "./find-agent.ts";
import type { GivenAgents } from "./parts.ts";
import { misconfigured, type Refused, refused } from "./refused.ts";

type AgentsRequest = {
  readonly config: Config;
  /** Functions of a program need no configuration, and are not checked. */
  readonly given?: GivenAgents;
  /** Whether an agent that is found here may be used if none is configured. */
  readonly mayFind?: boolean;
};

/** `why`: how the agent was found; undefined if it is configured. */
export type AgentsReady = {
  readonly config: Config;
  readonly why?: string;
  readonly notices: readonly string[];
};

export type AgentsParts = FindAgentParts & { readonly project: Pick<Project, "located"> };

/** For a new run: settles an agent that can be started, the configured one or one that is found here. */
export async function settleAgents(
  { config, given = {}, mayFind = false }: AgentsRequest,
  parts: AgentsParts,
  signal: AbortSignal,
): Promise<AgentsReady | Refused> {
  const found = mayFind ? await findAgent(config, parts, signal) : { agent: config.agent, candidates: [] };
  if (found.agent === undefined && !given.worker)
    return mayFind ? nobody(found.candidates) : refused("agent", NOBODY);
  const wanted = found.agent === undefined || given.worker ? config : withAgent(config, found.agent);
  const ready = await readyAgents({ config: wanted, given }, parts);
  if (hasFailed(ready)) return ready;
  const open = unconfinedProblem(ready.config);
  if (open) return refused("configuration", open);
  return "why" in found && found.why !== undefined ? { ...ready, why: found.why } : ready;
}

const NOBODY = failure(
  "agent-unreachable",
  "there is no agent to do the work",
  "give a worker, or config.agent",
);

/** For a run whose agents are settled. */
export async function readyAgents(
  { config: wanted, given = {} }: AgentsRequest,
  parts: AgentsParts,
): Promise<AgentsReady | Refused> {
  const problem = await whyUnavailable(wanted, given, parts);
  if (problem) return problem;
  const { config, missing } = await withUsableFallbacks(wanted, parts.agents);
  const place = await placeNotices(config, parts);
  if (hasFailed(place)) return place;
  const prices = await priceNotices(config, parts.agents);
  if (hasFailed(prices)) return prices;
  return { config, notices: [...missing, ...place, ...prices, ...tooSmall(config)] };
}

async function whyUnavailable(
  { agent, planner }: Config,
  given: GivenAgents,
  { agents, project: { located } }: AgentsParts,
): Promise<Refused | undefined> {
  if (!given.worker && agent === undefined) return refused("agent", NO_AGENT);
  const specs = [given.worker ? undefined : agent, given.planner || planner === "none" ? undefined : planner];
  for (const spec of specs) {
    const problem = spec && (await agentProblem(spec, located.top, agents));
    if (problem) return refused(problem.kind === "authentication" ? "key" : "agent", problem);
    const wrong = spec?.kind === "scripted" && (await scriptProblem(spec.script, located.top, agents));
    if (wrong) return wrong;
  }
  return undefined;
}

export const NO_AGENT = failure(
  "agent-unreachable",
  "no agent is configured",
  "name a program that does the work, such as --agent ./my-agent.sh, or agent: in skein.yaml; or try skein demo",
);

async function scriptProblem(
  script: string,
  top: string,
  { script: look }: AgentLooks,
): Promise<Refused | undefined> {
  const problems = await look(path.resolve(top, script));
  if (problems === "missing")
    return misconfigured(
      `there is no script ${script}`,
      "name an existing file; skein demo creates an example",
    );
  return problems.length === 0
    ? undefined
    : misconfigured(`the script ${script} cannot be used`, undefined, problems);
}

/** Leaves out fallbacks whose key is missing, because waiting for them would be useless. Returns which. */
export async function withUsableFallbacks(
  config: Config,
  { models }: Pick<AgentLooks, "models">,
): Promise<{ readonly config: Config; readonly missing: readonly string[] }> {
  const { agent, planner, fallback } = config;
  const missing = new Map<ModelSpec, Failure>();
  const specs = [agent, planner].flatMap((spec) =>
    typeof spec === "object" && spec.kind === "model" ? spec.fallbacks : [],
  );
  for (const spec of [...specs, ...fallback]) {
    const problem = await models.keyProblem(spec);
    if (problem) missing.set(spec, problem);
  }
  const isUsable = (spec: ModelSpec) => !missing.has(spec);
  const usable = <Spec extends Config["planner"]>(spec: Spec): Spec =>
    typeof spec === "object" && spec.kind === "model"
      ? { ...spec, fallbacks: spec.fallbacks.filter(isUsable) }
      : spec;
  const settled = {
    ...config,
    ...(agent === undefined ? {} : { agent: usable(agent) }),
    ...(planner === undefined ? {} : { planner: usable(planner) }),
    fallback: fallback.filter(isUsable),
  };
  const words = [...missing].map(
    ([{ provider, model }, { message }]) => `the fallback ${provider}/${model} is left out: ${message}`,
  );
  return { config: settled, missing: [...new Set(words)] };
}

/** Checks what the built-in agent needs besides a model. A missing sandbox is reported, unless it is configured off. */
async function placeNotices(
  config: Config,
  { agents, project: { located } }: AgentsParts,
): Promise<readonly string[] | Refused> {
  const [sandbox, prompts] = await Promise.all([
    sandboxOf(config, agents),
    promptsProblem(config, located.top, agents),
  ]);
  const problem = sandbox?.problem ?? prompts;
  if (problem) return refused("configuration", problem);
  const isScript = config.agent?.kind === "scripted"; // Its steps are written down: no model steers it.
  const isSaid = sandbox?.level === "none" && config.sandbox === "auto" && !isScript;
  return isSaid ? [`no sandbox: ${sandbox.why}`] : [];
}

/** Undefined if Skein confines nothing: neither commands of the built-in agent nor those of the gate. */
export const sandboxOf = async (
  config: Config,
  { sandbox }: Pick<AgentLooks, "sandbox">,
): Promise<SandboxFacts | undefined> =>
  modelsIn(config).length === 0 && config.gateSandbox === "off" ? undefined : sandbox(config);

/** What is wrong with the configured folder of prompts, if there is one. */
export const promptsProblem = async (
  { prompts }: Config,
  top: string,
  agents: Pick<AgentLooks, "prompts">,
): Promise<Failure | undefined> =>
  prompts === undefined ? undefined : agents.prompts(path.resolve(top, prompts));

/** Refuses a budget in money that cannot be enforced; if tokens limit the run as well, returns a notice instead. */
async function priceNotices(config: Config, agents: AgentLooks): Promise<readonly string[] | Refused> {
  const key = dollarsKey(config);
  if (key === undefined) return [];
  const { models } = await pricesOf(config, agents);
  const unknown = models.filter(({ isPriced }) => !isPriced);
  if (unknown.length === 0) return [];
  const names = unknown.map(({ model }) => model).join(", ");
  if (config.budget.tokens !== undefined)
    return [`the price of ${names} is not known: ${key} does not limit it, budget.tokens does`];
  return misconfigured(`the price of ${names} is not known, so ${key} could not be enforced`, PRICE_WAYS);
}

export type PriceFacts = { readonly model: string; readonly isPriced: boolean };

/** Prices of every model that the run may call by itself, and the date of the table. */
export async function pricesOf(
  config: Config,
  { models }: Pick<AgentLooks, "models">,
): Promise<{ readonly models: readonly PriceFacts[]; readonly asOf: string }> {
  const called = modelsIn(config);
  if (called.length === 0) return { models: [], asOf: "" }; // The table of prices takes 100 ms to load.
  const { asOf, cost } = await models.prices(config.prices);
  const use = { input: 1_000, output: 1_000 };
  const facts = called.map((spec) => ({
    model: `${spec.provider}/${spec.model}`,
    isPriced: cost(spec, use) !== undefined,
  }));
  return { models: [...new Map(facts.map((fact) => [fact.model, fact])).values()], asOf };
}

const modelsIn = ({ agent, planner, fallback }: Config): readonly ModelSpec[] =>
  [agent, planner].flatMap((spec) =>
    typeof spec === "object" && spec.kind === "model" ? [spec.model, ...fallbacksOf(spec, fallback)] : [],
  );

/**
 * What would not be confined although a sandbox is required. Excludes scripts, which no model steers, and functions,
 * which belong to the program.
 */
export function unconfinedProblem(config: Config): Failure | undefined {
  if (config.sandbox !== "required") return undefined;
  if (config.gateSandbox === "off")
    return failure(
      "policy",
      "a sandbox is required, and gateSandbox is off: tests that agents write would run as you",
      "set gateSandbox to auto, or sandbox to auto",
    );
  const program = [config.agent, config.planner].find(
    (spec) => typeof spec === "object" && (spec.kind === "command" || spec.kind === "acp"),
  );
  if (program === undefined) return undefined;
  return failure(
    "policy",
    "a sandbox is required, and Skein does not confine agents that are programs",
    "use the built-in agent (--model provider/model); or set sandbox to auto, and run all of Skein in a container",
  );
}

/** Each line can be typed. */
const nobody = (candidates: readonly AgentCandidate[]): Refused =>
  refused(
    "agent",
    failure(
      "agent-unreachable",
      "no agent is configured, and none was found",
      "name a program that does the work, such as --agent ./my-agent.sh; or try skein demo, which needs no agent",
    ),
    [
      ...candidates.map(({ seen, next }) => `${seen}${next === undefined ? "" : `: ${next}`}`),
      "do one of these, then give the same command again:",
      ...WAYS,
    ],
  );

const WAYS: readonly string[] = [
  "  a model by its key:       export ANTHROPIC_API_KEY=…  (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY)",
  "  an agent as a program:    npm install --global opencode-ai  (or claude, codex, gemini, pi: see docs/agents.md)",
  "  a model on this machine:  ollama pull qwen3-coder && ollama serve",
];
