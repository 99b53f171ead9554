/** Puts the built-in agent together: its models, prompts and sandbox, loaded when it is first asked. */
export { ModelAgent } from "./model-agent.ts";

import type { ModelMessage } from "ai";
import type { ModelSpec } from "../../../core/model-spec.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import type { TaskId } from "../../../core/task.ts";
import { asSaid, type Said } from "../../../ports/agent.ts";
import { type Model, openModel, shortName } from "../../models/providers.ts";
import { loadPrompts } from "../../prompts.ts";
import type { AgentParts, AgentSettings } from "../agent-settings.ts";
import { withoutSecrets } from "../ends.ts";
import type { OpenTalk, TalkPlace, TaskTalk, ToldTask } from "../tasks/talk.ts";
import { holdTurn, type ModelAgentOptions, withModel } from "./model-agent.ts";
import type { ModelChain } from "./session.ts";

type Kept = "governor" | "programs" | "transcripts" | "redact" | "folder" | "conversations";

type ModelSettings = Pick<ModelAgentOptions, Kept> &
  Pick<AgentParts, "sandbox"> &
  Pick<
    AgentSettings,
    "env" | "modelIn" | "prices" | "mayBeUnpriced" | "promptFolders" | "retry" | "agrees"
  > & {
    /** The model, followed by its fallbacks. */
    readonly usual: readonly [ModelSpec, ...ModelSpec[]];
  };

export async function modelOptions(settings: ModelSettings): Promise<ModelAgentOptions | Failed> {
  const prompts = await loadPrompts(settings.promptFolders, settings.agrees);
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

/** The longest wait before a retry within a turn. If a model stays out of reach, the turn ends and is tried again later. */
const MAX_WAIT_MS = 60_000;

/** The models of a turn: a specialist's own model first, if it can be opened, then the usual ones. */
async function chainOf(
  named: string | undefined,
  { usual, modelIn, env, prices, mayBeUnpriced }: ModelSettings,
): Promise<ModelChain | Failed> {
  const own = named === undefined ? undefined : (modelIn(named) ?? shortName(named, usual[0]));
  const open = (spec: ModelSpec) => openModel(spec, env, prices);
  const [special, first, ...rest] = await Promise.all([own && open(own), ...usual.map(open)]);
  if (hasFailed(first!)) return first!; // Fallbacks may be missing, the usual model may not.
  const isUsable = (model: Model | Failed): model is Model => !hasFailed(model);
  const models = [first as Model, ...rest.filter(isUsable)] as const;
  return special && isUsable(special) && (special.isPriced || mayBeUnpriced) ? [special, ...models] : models;
}

/** `named`: the model that the role asks for, if it names one. */
export const modelTalks =
  (options: ModelAgentOptions, named?: string): OpenTalk =>
  (place, signal) =>
    new ModelTalk(options, { ...place, named }, signal);

class ModelTalk implements TaskTalk {
  readonly hasInherited: boolean;
  readonly #options: ModelAgentOptions;
  readonly #place: TalkPlace & { readonly named: string | undefined };
  readonly #signal: AbortSignal;
  readonly #messages: ModelMessage[];
  /** How many messages there were before the last answer, by the number of entries that a turn began with. */
  readonly #before = new Map<number, number>();

  constructor(
    options: ModelAgentOptions,
    place: TalkPlace & { readonly named: string | undefined },
    signal: AbortSignal,
  ) {
    this.#options = options;
    this.#place = place;
    this.#signal = signal;
    const { from, entries = 0 } = place.inherits ?? {};
    const inherited = from instanceof ModelTalk ? from.#prefix(entries) : undefined;
    this.hasInherited = inherited !== undefined;
    this.#messages = [...(inherited ?? [])];
  }

  /** Returns exactly the same messages, so that the provider can serve them from its cache. */
  #prefix(entries: number): readonly ModelMessage[] | undefined {
    const count = this.#before.get(entries);
    return count === undefined ? undefined : this.#messages.slice(0, count);
  }

  say({ job, message, conversation }: ToldTask): Promise<Said> {
    const { task, system, maxMs, folder, environment, named } = this.#place;
    return withModel(this.#options, named, async (chain) => {
      const past = [...this.#messages];
      const { said } = await holdTurn(
        this.#options,
        {
          ...{ job, task: task.id as TaskId, chain, maxMs, system, past, message, asked: "task" },
          conversation: past.length === 0 ? "new" : "continued",
          tools: (tools, parts, stop) =>
            tools.readingTools({ ...parts, job, folder, environment, signal: stop }),
          onMessages: async (messages) => void this.#messages.push(...messages),
        },
        this.#signal,
      );
      const last = this.#messages.findLastIndex(({ role }) => role === "assistant");
      this.#before.set(conversation.length, last < past.length ? this.#messages.length : last);
      return withoutSecrets(asSaid(said), this.#options.redact);
    });
  }
}
