/** How is the built-in agent put together? Its models, prompts and sandbox, loaded when it is first asked. */
import type { ModelSpec } from "../../../core/model-spec.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import { type Model, openModel, shortName } from "../../models/providers.ts";
import { loadPrompts } from "../../prompts.ts";
import type { AgentParts, AgentSettings } from "../agent-settings.ts";
import type { ModelAgentOptions } from "./model-agent.ts";
import type { ModelChain } from "./session.ts";

export { ModelAgent } from "./model-agent.ts";
export { modelTalks } from "./task-talk.ts";

type Kept = "governor" | "programs" | "transcripts" | "redact" | "folder" | "conversations";

type ModelSettings = Pick<ModelAgentOptions, Kept> &
  Pick<AgentParts, "sandbox"> &
  Pick<AgentSettings, "env" | "modelIn" | "prices" | "mayBeUnpriced" | "promptFolders" | "retry"> & {
    /** The model, then its fallbacks. */
    readonly usual: readonly [ModelSpec, ...ModelSpec[]];
  };

export async function modelOptions(settings: ModelSettings): Promise<ModelAgentOptions | Failed> {
  const prompts = await loadPrompts(settings.promptFolders);
  if (hasFailed(prompts)) return prompts;
  const sandbox = await settings.sandbox();
  if (hasFailed(sandbox)) return sandbox;
  const { first, max } = settings.retry;
  const { governor, programs, transcripts, redact, folder, conversations } = settings;
  return {
    ...{ governor, programs, transcripts, redact, folder, conversations, prompts, sandbox },
    models: (named) => chainOf(named, settings),
    limits: { backoff: { firstMs: first, maxMs: Math.min(max, MAX_WAIT_MS) } },
  };
}

/** Within a turn: who is out of reach for longer has its turn ended, and is tried again later. */
const MAX_WAIT_MS = 60_000;

/** A specialist's own model goes first; where it cannot be opened, the usual ones do. */
async function chainOf(
  named: string | undefined,
  { usual, modelIn, env, prices, mayBeUnpriced }: ModelSettings,
): Promise<ModelChain | Failed> {
  const own = named === undefined ? undefined : (modelIn(named) ?? shortName(named, usual[0]));
  const open = (spec: ModelSpec) => openModel(spec, env, prices);
  const [special, first, ...rest] = await Promise.all([own && open(own), ...usual.map(open)]);
  if (hasFailed(first!)) return first!; // A fallback whose key is missing is none; the usual model must be there.
  const isUsable = (model: Model | Failed): model is Model => !hasFailed(model);
  const models = [first as Model, ...rest.filter(isUsable)] as const;
  return special && isUsable(special) && (special.isPriced || mayBeUnpriced) ? [special, ...models] : models;
}
