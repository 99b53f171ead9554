/** Talks with a model for a task: one conversation in memory; a child that inherits begins with its prefix. */
import type { ModelMessage } from "ai";
import type { TaskId } from "../../../core/task.ts";
import { asSaid, type Said } from "../../../ports/agent.ts";
import { withoutSecrets } from "../ends.ts";
import type { OpenTalk, TalkPlace, TaskTalk, ToldTask } from "../tasks/talk.ts";
import { holdTurn, type ModelAgentOptions, withModel } from "./model-agent.ts";

/** `named`: the model that the role asks for, if it does. */
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
  /** By the number of entries that a turn began with: how many messages there were before its last answer. */
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

  /** Exactly the same messages, so that the provider can serve them from its cache. */
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
