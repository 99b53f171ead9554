/** How is the built-in agent put together? Its models, prompts and sandbox, loaded when it is first asked. */
import path from "node:path";
import { ModelAgent, type ModelAgentOptions } from "../adapters/agents/model/model-agent.ts";
import type { ModelChain } from "../adapters/agents/model/session.ts";
import { type Model, openModel, shortName } from "../adapters/models/providers.ts";
import { fallbacksOf } from "../config/accounts.ts";
import type { AgentSpec } from "../config/commands.ts";
import { modelIn } from "../config/models.ts";
import type { ModelSpec } from "../core/model-spec.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Agent } from "../ports/agent.ts";
import { type AgentParts, promptsOf } from "./agent-parts.ts";
import { sandboxFor } from "./sandbox.ts";

export async function openModelAgent(
  spec: AgentSpec & { readonly kind: "model" },
  parts: AgentParts,
): Promise<Agent | Failed> {
  const options = await modelOptions(spec, parts);
  return hasFailed(options) ? options : new ModelAgent(options);
}

export async function modelOptions(
  spec: AgentSpec & { readonly kind: "model" },
  parts: AgentParts,
): Promise<ModelAgentOptions | Failed> {
  const { config, runFolder, governor } = parts;
  const prompts = await promptsOf(parts);
  if (hasFailed(prompts)) return prompts;
  const sandbox = await sandboxFor(parts);
  if (hasFailed(sandbox)) return sandbox;
  const { programs, transcripts, redact, folder } = parts.programs;
  const usual = [spec.model, ...fallbacksOf(spec, config.fallback)] as const;
  return {
    models: (named) => chainOf(named, usual, parts),
    prompts,
    governor,
    programs,
    sandbox,
    transcripts,
    folder,
    conversations: path.join(runFolder, "conversations"),
    redact,
    limits: { backoff: { firstMs: config.retry.first, maxMs: Math.min(config.retry.max, MAX_WAIT_MS) } },
  };
}

/** Within a turn: who is out of reach for longer has its turn ended, and is tried again later. */
const MAX_WAIT_MS = 60_000;

/** A specialist's own model goes first; where it cannot be opened, the usual ones do. */
async function chainOf(
  named: string | undefined,
  usual: readonly [ModelSpec, ...ModelSpec[]],
  { env, config }: AgentParts,
): Promise<ModelChain | Failed> {
  const own = named === undefined ? undefined : (modelIn(named) ?? shortName(named, usual[0]));
  const open = (spec: ModelSpec) => openModel(spec, env, config.prices);
  const [special, first, ...rest] = await Promise.all([own && open(own), ...usual.map(open)]);
  if (hasFailed(first!)) return first!; // A fallback whose key is missing is none; the usual model must be there.
  const isUsable = (model: Model | Failed): model is Model => !hasFailed(model);
  const models = [first as Model, ...rest.filter(isUsable)] as const;
  return special && isUsable(special) && isWithin(special, config) ? [special, ...models] : models;
}

/** A file of the repository must not take a run beyond a budget in money: without a price nothing would stop it. */
const isWithin = ({ isPriced }: Model, { budget }: AgentParts["config"]): boolean =>
  isPriced ||
  budget.tokens !== undefined ||
  [budget, budget.task, budget.subtree].every(({ dollars }) => dollars === undefined);
