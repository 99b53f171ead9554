/** How does a model talk for a task? In one conversation, kept in memory; a child that inherits begins with its prefix. */
import { mkdir } from "node:fs/promises";
import type { ModelMessage } from "ai";
import { failure, messageOf } from "../../../core/failure.ts";
import type { TaskId } from "../../../core/task.ts";
import { asSaid, type Said } from "../../../ports/agent.ts";
import type { OpenTalk, TalkPlace, TaskTalk, ToldTask } from "../tasks/talk.ts";
import { turnFiles } from "../turn-files.ts";
import { holdGoverned } from "./governed-session.ts";
import { Ledger } from "./ledger.ts";
import { governedParts, judged, type ModelAgentOptions, withoutSecrets } from "./model-agent.ts";
import { WorkingTime } from "./working-time.ts";

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
  /** By how many entries a turn began with: how many messages there were before its last answer. */
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

  /** The same messages: what a provider has cached of them serves again. */
  #prefix(entries: number): readonly ModelMessage[] | undefined {
    const count = this.#before.get(entries);
    return count === undefined ? undefined : this.#messages.slice(0, count);
  }

  async say(told: ToldTask): Promise<Said> {
    try {
      const chain = await this.#options.models(this.#place.named);
      if ("failure" in chain) return { is: "failed", failure: chain.failure };
      return await this.#turn(told, chain);
    } catch (thrown) {
      const why = this.#options.redact(`the turn broke off: ${messageOf(thrown)}`);
      return { is: "failed", failure: failure("interrupted", why) };
    }
  }

  async #turn(
    { job, message, conversation }: ToldTask,
    chain: Parameters<typeof holdGoverned>[1]["chain"],
  ): Promise<Said> {
    const { folder, transcripts, redact } = this.#options;
    const { task, system, maxMs } = this.#place;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const ledger = await Ledger.open(`${turnFiles(folder, job).folder}.cost.jsonl`);
    const transcript = transcripts.open(job);
    const time = new WorkingTime(maxMs);
    const past = [...this.#messages];
    try {
      const end = await holdGoverned(
        governedParts(this.#options),
        {
          ...{ job, task: task.id as TaskId, chain, ledger, time, transcript, system, past, message },
          asked: "task",
          conversation: past.length === 0 ? "new" : "continued",
          tools: (parts) => this.#tools(job, parts),
          onMessages: async (messages) => void this.#messages.push(...messages),
        },
        AbortSignal.any([this.#signal, time.signal]),
      );
      const said = asSaid(judged(end, { maxMs }, this.#signal, time));
      const last = this.#messages.findLastIndex(({ role }) => role === "assistant");
      this.#before.set(conversation.length, last < past.length ? this.#messages.length : last);
      return withoutSecrets({ ...said, spent: ledger.spent() }, redact);
    } finally {
      time.stop();
      await Promise.allSettled([transcript.close(), ledger.close()]);
    }
  }

  /** Those that only look: what a task changes would be thrown away. */
  async #tools(job: ToldTask["job"], parts: Parameters<Parameters<typeof holdGoverned>[1]["tools"]>[0]) {
    const { plannerTools } = await import("../tools/tools.ts");
    const { folder, environment } = this.#place;
    return plannerTools({ ...parts, job, folder, environment, signal: this.#signal });
  }
}
