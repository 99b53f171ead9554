/** Makes a model an agent: it gets prompts, tools in a folder and a governor, and its words are the answer. */

import { stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelMessage } from "ai";
import type { WorkBrief } from "../../../core/brief.ts";
import { type Failure, failure, messageOf } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import type { ToolResponse } from "../../../core/subtask.ts";
import type { Agent, Ask, Called, Cut, Said } from "../../../ports/agent.ts";
import type { Governor } from "../../../ports/governor.ts";
import type { Programs } from "../../../ports/programs.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import type { Transcripts } from "../../../ports/transcripts.ts";
import { askedFor } from "../../../prompting/asked-for.ts";
import { MAX_MESSAGE_CHARS } from "../../../prompting/message.ts";
import { planMessage } from "../../../prompting/plan-message.ts";
import { systemPrompt } from "../../../prompting/system-prompt.ts";
import { type KnownBefore, resumeMessage, workMessage } from "../../../prompting/work-message.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import { fails, stopped, timedOut, withoutSecrets } from "../ends.ts";
import { fileName, prepareTurn, recordedTurn, recordTurn, turnFiles } from "../turn-files.ts";
import { Conversation, recall, type Speaker } from "./conversation.ts";
import { Ledger, ledgerFile, readLedger } from "./ledger.ts";
import {
  holdSession,
  type ModelChain,
  type ModelLimits,
  type SessionEnd,
  type SessionTurn,
} from "./session.ts";
import { CALL_FOR, NOT_RUN, onlyPairs, resultIds, resultOf, toolCalls } from "./tool-pairs.ts";
import { WorkingTime } from "./working-time.ts";

export type ModelAgentOptions = {
  /** Opens the models of a turn; `named` is the model that the turn's role names, if it names one. */
  readonly models: (named: string | undefined) => Promise<ModelChain | { readonly failure: Failure }>;
  readonly prompts: Prompts;
  readonly governor: Governor;
  readonly programs: Programs;
  readonly sandbox: Sandbox;
  readonly transcripts: Transcripts;
  /** Where each job's files are; it must survive a restart of this process. */
  readonly folder: string;
  readonly conversations: string;
  readonly redact: (text: string) => string;
  readonly limits?: Partial<ModelLimits>;
  readonly now?: () => number;
  readonly random?: () => number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

const MODEL_LIMITS: ModelLimits = {
  maxSteps: 200,
  maxSilenceMs: 5 * 60_000,
  maxTransient: 6,
  backoff: { firstMs: 2_000, maxMs: 60_000 },
  tools: { maxOutputBytes: 32_000, maxFileBytes: 10_000_000, maxCommandMs: 10 * 60_000 },
};

export class ModelAgent implements Agent {
  readonly #options: ModelAgentOptions;

  constructor(options: ModelAgentOptions) {
    this.#options = options;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said | Called> {
    const { folder, redact } = this.#options;
    const files = turnFiles(folder, ask.job);
    const brief = `${JSON.stringify(ask.brief)}\n`;
    const problem = signal.aborted
      ? stopped("the model")
      : ((await folderProblem(ask)) ?? (await prepareTurn(files, brief)));
    if (problem) return fails(problem);
    return withModel(this.#options, ask.role?.model, async (chain) => {
      const { conversation, ...opening } = await this.#opening(ask, chain);
      try {
        const ended = await holdTurn(
          this.#options,
          {
            ...{ ...ask, ...opening, chain, task: ask.brief.task, asked: askedFor(ask.brief) },
            hasLabels: ask.brief.kind === "plan" && ask.brief.labels !== undefined,
            output: isAnswering(ask) ? undefined : ask.scratchpad?.file,
            ...{ past: conversation.past, conversation: conversation.is },
            tools: (tools, parts, stop) => tools.toolsFor(ask, parts, stop),
            onMessages: (messages) => conversation.add(messages),
          },
          signal,
        );
        const said = withoutSecrets(ended.said, redact);
        // The engine may only learn of a worker's call once its conversation is on disk, because the next turn
        // resumes it. A planner's conversation must not hold a plan that the engine did not get.
        if (ask.brief.kind === "work" && said.is !== "failed") await conversation.end();
        await recordTurn(files, ended.isCut ? undefined : said);
        if (ask.brief.kind === "plan" && said.is === "said") await conversation.end();
        return said;
      } finally {
        await conversation.close().catch(() => {}); // The turn has ended, so a failed close does no harm.
      }
    });
  }

  /** The turn's recorded result; else what it had cost when it was cut off. */
  async collect(job: JobId): Promise<Said | Called | Cut | undefined> {
    const files = turnFiles(this.#options.folder, job);
    const recorded = await recordedTurn(files);
    if (recorded) return recorded;
    const spent = await readLedger(ledgerFile(this.#options.folder, job));
    return spent && { is: "cut", spent };
  }

  /**
   * How the conversation begins, and where it is recorded: one for all turns of a planner, one for each attempt of
   * a worker.
   */
  async #opening(ask: Ask, [model]: ModelChain) {
    const { redact, prompts, folder } = this.#options;
    const { brief, job } = ask;
    const system = systemPrompt(prompts, ask);
    const maxChars = maxMessageChars(model.contextTokens);
    const maxTokens = Math.floor(model.contextTokens * PAST_SHARE);
    if (brief.kind === "plan") {
      const file = this.#fileOf(brief.transcript);
      const conversation = await Conversation.open({ file, job, isNew: false, redact, maxTokens });
      return { conversation, system, message: planMessage(ask, conversation.is, maxChars) };
    }
    const speaker = { system, model: model.id };
    const begun = await beginWork(ask, brief, {
      ...{ speaker, maxChars, redact },
      recall: (session) => recall(this.#fileOf(session)),
      asked: async (session) => callText(await recordedTurn(turnFiles(folder, session))),
    });
    const { past, message } = begun;
    const place = { file: this.#fileOf(job), job, redact, maxTokens, ...(past.length > 0 && { past }) };
    const as = { ...speaker, system: begun.system };
    const conversation = await Conversation.open({ ...place, isNew: true, speaker: as });
    return { conversation, system: begun.system, message };
  }

  #fileOf = (name: string): string => path.join(this.#options.conversations, `${fileName(name)}.jsonl`);
}

/** Opens the models for one turn, and turns thrown errors into a failure. */
export async function withModel<Ended extends Said | Called>(
  { models, redact }: ModelAgentOptions,
  named: string | undefined,
  use: (chain: ModelChain) => Promise<Ended>,
): Promise<Ended | Said> {
  try {
    const chain = await models(named);
    return "failure" in chain ? fails(chain.failure) : await use(chain);
  } catch (thrown) {
    return fails(failure("interrupted", redact(`the turn broke off: ${messageOf(thrown)}`)));
  }
}

type HeldTurn = Omit<SessionTurn, "ledger" | "time" | "transcript" | "tools"> &
  Pick<Ask, "maxMs"> & {
    readonly tools: (
      ...given: [...Parameters<SessionTurn["tools"]>, AbortSignal]
    ) => ReturnType<SessionTurn["tools"]>;
  };

/** Runs one turn with its ledger, transcript and time limit. `isCut`: it was stopped, or ran out of time. */
export async function holdTurn(
  options: ModelAgentOptions,
  turn: HeldTurn,
  signal: AbortSignal,
): Promise<{ readonly said: Said | Called; readonly isCut: boolean }> {
  const { now = Date.now, random = Math.random, wait = waitFor, limits } = options;
  const ledger = await Ledger.open(ledgerFile(options.folder, turn.job), now);
  const transcript = options.transcripts.open(turn.job);
  const time = new WorkingTime(turn.maxMs);
  const stop = AbortSignal.any([signal, time.signal]);
  try {
    const end = await holdSession(
      { ...options, now, random, wait, limits: { ...MODEL_LIMITS, ...limits } },
      { ...turn, ledger, transcript, time, tools: (tools, parts) => turn.tools(tools, parts, stop) },
      stop,
    );
    const said = judged(end, turn.maxMs, signal, time);
    return { said: { ...said, spent: ledger.spent() }, isCut: stop.aborted };
  } finally {
    time.stop();
    await Promise.allSettled([transcript.close(), ledger.close()]);
  }
}

/** A turn that was stopped, or had no time left, failed for that reason, whatever error came with it. */
function judged(end: SessionEnd, maxMs: number, signal: AbortSignal, time: WorkingTime): Said | Called {
  if (end.is === "called") return end;
  if (end.is === "answered") return { is: "said", text: end.text };
  if (signal.aborted) return fails(stopped("the model"));
  return time.signal.aborted ? fails(timedOut("the model", maxMs)) : end;
}

/** A third of what the model can hold, at three characters a token, so that there is room to work. */
const maxMessageChars = (contextTokens: number): number =>
  Math.min(MAX_MESSAGE_CHARS, Math.max(MIN_MESSAGE_CHARS, contextTokens));

/** A shorter message would no longer say anything useful. */
const MIN_MESSAGE_CHARS = 8_000;

/** The share of the model's context for a planner's earlier turns. This turn's message and work need the rest. */
const PAST_SHARE = 0.4;

const isAnswering = ({ brief }: Ask): boolean => brief.kind === "work" && brief.goOn?.isAnswering === true;

const callText = (said: Said | Called | undefined): string | undefined =>
  said?.is === "called" ? `${said.tool} ${JSON.stringify(said.input)}` : undefined;

async function folderProblem({ folder }: Ask): Promise<Failure | undefined> {
  try {
    if ((await stat(folder)).isDirectory()) return undefined;
    return failure("interrupted", `the workspace ${folder} is not a folder`);
  } catch (error) {
    return failure("interrupted", `the workspace ${folder} cannot be used: ${messageOf(error)}`);
  }
}

const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {}); // Aborted: the caller checks the signal.

/** How a worker's conversation begins: anew, where its last turn stopped, or with its parent's conversation. */
type Beginning = {
  readonly past: readonly ModelMessage[];
  readonly message: string;
  readonly system: string;
};

type BeginningParts = {
  readonly speaker: Speaker;
  readonly maxChars: number;
  readonly recall: (job: JobId) => ReturnType<typeof recall>;
  /** The call that an earlier turn ended with, as text; undefined if unknown. */
  readonly asked: (job: JobId) => Promise<string | undefined>;
  /** Removes secrets, because conversations are recorded without them. */
  readonly redact: (text: string) => string;
};

async function beginWork(ask: Ask, brief: WorkBrief, parts: BeginningParts): Promise<Beginning> {
  if (brief.goOn) return resume(ask, brief.goOn, parts);
  if (ask.context?.inherits !== undefined) return inherit(ask, ask.context.inherits, parts);
  return anew(ask, {}, parts);
}

const anew = (ask: Ask, known: KnownBefore, { speaker, maxChars }: BeginningParts): Beginning => ({
  past: [],
  message: workMessage(ask, maxChars, known),
  system: speaker.system,
});

/**
 * Goes on with a conversation. All earlier messages are sent unchanged, so that the provider can serve them from
 * its cache.
 */
async function resume(
  ask: Ask,
  { session, response }: NonNullable<WorkBrief["goOn"]>,
  parts: BeginningParts,
): Promise<Beginning> {
  const talk = await parts.recall(session);
  if (!talk) {
    const asked = await parts.asked(session);
    return anew(ask, asked === undefined ? {} : { asked }, parts);
  }
  const { messages, isTold } = withResponse(talk.messages, response);
  const { model, system } = parts.speaker;
  return {
    past: talk.model === model ? messages : onlyPairs(messages),
    message: resumeMessage(ask, isTold, parts.maxChars),
    // A prompt that was changed meanwhile only applies to new conversations.
    system: talk.system === undefined || talk.system === parts.redact(system) ? system : talk.system,
  };
}

/**
 * Makes the response the result of the call that asked for it. If that call has its result already, because the
 * subtask asked a question before, the response is told in words.
 */
function withResponse(
  messages: readonly ModelMessage[],
  { name, result: { status, content, notes } }: ToolResponse,
): { readonly messages: readonly ModelMessage[]; readonly isTold: boolean } {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const answered = resultIds(messages.slice(at + 1));
  const open = toolCalls(messages[at]).filter(({ toolCallId }) => !answered.has(toolCallId));
  if (open.length === 0) return { messages, isTold: false };
  const asked = open.find(({ toolName }) => toolName === CALL_FOR[name]);
  const results = open.map((call) => {
    if (call === asked) return resultOf(call, JSON.stringify({ status, content, notes }));
    return resultOf(call, call.toolName === "ask" ? PASSED_ON : NOT_RUN);
  });
  return { messages: [...messages, { role: "tool", content: results }], isTold: asked !== undefined };
}

/** The result of the call of a worker that could not answer its subtask's question. */
const PASSED_ON = "the question was passed on, and its answer goes to your subtask";

/**
 * Begins with the parent's conversation, without the call that asked for the subtask: the child must not take that
 * call for an order to itself.
 */
async function inherit(ask: Ask, session: JobId, parts: BeginningParts): Promise<Beginning> {
  const { speaker, maxChars, redact } = parts;
  const talk = await parts.recall(session);
  const at = talk?.messages.findLastIndex((message) =>
    toolCalls(message).some(({ toolName }) => toolName === "spawn_subtask"),
  );
  if (!talk || at === undefined || at < 0) return anew(ask, {}, parts);
  const past = talk.messages.slice(0, at);
  if (talk.model !== speaker.model || talk.system !== redact(speaker.system))
    return anew(ask, { inherited: { text: past.map(textOf).join("\n\n") } }, parts);
  return { past, message: workMessage(ask, maxChars, { inherited: "above" }), system: speaker.system };
}

function textOf(message: ModelMessage): string {
  if (typeof message.content === "string") return `${HEARD[message.role]}\n${message.content}`;
  return message.content
    .flatMap((part) => {
      if (part.type === "text") return [`${HEARD[message.role]}\n${part.text}`];
      if (part.type === "tool-call") return [`It called ${part.toolName}: ${JSON.stringify(part.input)}`];
      if (part.type !== "tool-result") return [];
      const { output } = part;
      return [`It got:\n${output.type === "text" ? output.value : JSON.stringify(output)}`];
    })
    .join("\n\n");
}

const HEARD = {
  system: "It was told:",
  user: "It was told:",
  assistant: "It said:",
  tool: "It got:",
} as const;
