/** Runs one turn of a model: it calls tools until it gives its answer, governed and within its time limit. */

import type { ModelMessage, ToolSet } from "ai";
import { type Failure, failure, messageOf } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import type { TaskId } from "../../../core/task.ts";
import type { Ask, Called } from "../../../ports/agent.ts";
import type { Governor } from "../../../ports/governor.ts";
import type { Programs } from "../../../ports/programs.ts";
import type { Transcript } from "../../../ports/transcripts.ts";
import { type AskedFor, askAgain, whyUnreadable } from "../../../prompting/asked-for.ts";
import type { CallableModel, Model } from "../../models/providers.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import type { ToolLimits } from "../tools/place.ts";
import type { StreamPart } from "./answer-parts.ts";
import { estimateTokens, fitted } from "./fit.ts";
import { CallFailed, governed, type RetryWaits } from "./governed-model.ts";
import type { Ledger } from "./ledger.ts";
import {
  ANSWER_TOOL,
  answerText,
  isCallTool,
  NOT_RUN,
  resultIds,
  resultOf,
  toolCalls,
} from "./tool-pairs.ts";
import type * as TurnTools from "./turn-tools.ts";
import type { WorkingTime } from "./working-time.ts";

export type ModelChain = readonly [Model, ...Model[]];

export type ModelLimits = {
  readonly maxSteps: number;
  readonly maxSilenceMs: number;
  readonly maxTransient: number;
  readonly backoff: RetryWaits;
  readonly tools: ToolLimits;
};

type GovernedParts = {
  readonly governor: Governor;
  readonly programs: Programs;
  readonly sandbox: Sandbox;
  readonly redact: (text: string) => string;
  readonly limits: ModelLimits;
  readonly now: () => number;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

export type SessionTurn = Pick<Ask, "onSign" | "onSlow"> & {
  readonly job: JobId;
  readonly task: TaskId;
  readonly chain: ModelChain;
  readonly ledger: Ledger;
  readonly time: WorkingTime;
  readonly transcript: Transcript;
  readonly asked: AskedFor;
  /** Whether machines of the fleet have labels that tasks of the plan may ask for. */
  readonly hasLabels?: boolean;
  readonly output?: string | undefined;
  readonly system: string;
  readonly past: readonly ModelMessage[];
  readonly conversation: "new" | "continued";
  readonly message: string;
  readonly tools: (tools: typeof TurnTools, parts: TurnTools.ToolParts) => ToolSet;
  readonly onMessages: (messages: readonly ModelMessage[]) => Promise<void>;
};

export type SessionEnd =
  /** `text` is the answer as JSON, or the model's last words. */
  | { readonly is: "answered"; readonly text: string }
  /** The model called one of Skein's own tools; the call has no result yet. */
  | Pick<Called, "is" | "tool" | "input">
  | { readonly is: "failed"; readonly failure: Failure };

/** Does not throw, unless the tools cannot be loaded. */
export async function holdSession(
  parts: GovernedParts,
  turn: SessionTurn,
  signal: AbortSignal,
): Promise<SessionEnd> {
  const { limits, programs, sandbox, ...calls } = parts;
  const { job, task, chain, ledger, time } = turn;
  const teller = new Teller(turn.transcript.write);
  const onSign = () => turn.onSign?.();
  teller.begin(chain[0].id, turn.conversation);
  const model = governed({
    ...{ ...calls, ...limits, job, task, chain, ledger, onSign },
    onPart: teller.part,
    onSlow: (doing) => turn.onSlow?.(doing),
    onTrouble: teller.trouble,
    onWait: (isWaiting) => time.pause(isWaiting),
  });
  const turnTools = await import("./turn-tools.ts");
  const given = { programs, sandbox, limits: limits.tools, onSign, write: teller.tool };
  const timed = turnTools.timedTools(turn.tools(turnTools, given), parts.now, (use) => ledger.toolEnded(use));
  const tools = { ...timed, ...turnTools.answerTool(turn.asked, turn.hasLabels) };
  const onMessages = async (messages: readonly ModelMessage[]) => {
    teller.messages(messages);
    onSign();
    await turn.onMessages(messages);
  };
  const { maxSteps } = limits;
  return hold(new Talk({ ...turn, model, tools, onMessages, maxSteps }), turn.message, signal);
}

async function hold(talk: Talk, message: string, signal: AbortSignal): Promise<SessionEnd> {
  try {
    await talk.say(message);
    for (;;) {
      const next = talk.judge(await talk.listen(signal));
      if (next.is !== "say") return next;
      await talk.say(next.text);
    }
  } catch (thrown) {
    const why = callFailedIn(thrown)?.why;
    const broken = `the model's turn broke off: ${messageOf(thrown)}`;
    return { is: "failed", failure: why ?? failure("agent-failed", broken) };
  }
}

/** What the model said until it stopped by itself, or was stopped. */
type Leg = {
  readonly answer?: unknown;
  readonly called?: Pick<Called, "tool" | "input">;
  readonly text: string;
  readonly stop: string;
  /** Whether the model ended with a tool call and so is still working. Some servers report "stop" all the same. */
  readonly isAtWork: boolean;
};

type Next = SessionEnd | { readonly is: "say"; readonly text: string };

type TalkParts = Pick<SessionTurn, "chain" | "asked" | "output" | "system" | "past" | "onMessages"> & {
  readonly model: CallableModel;
  readonly tools: ToolSet;
  readonly maxSteps: number;
};

class Talk {
  readonly #parts: TalkParts;
  readonly #messages: ModelMessage[];
  #steps = 0;
  /** Tokens for messages, out of what the model can hold. */
  #roomTokens: number;
  #cuts = 0;
  #continued = 0;
  #hasAskedAgain = false;

  constructor(parts: TalkParts) {
    this.#parts = parts;
    this.#messages = [...parts.past];
    const { contextTokens, maxOutputTokens } = parts.chain[0];
    this.#roomTokens = Math.floor(Math.max(contextTokens - maxOutputTokens, contextTokens / 2) * ROOM_SHARE);
  }

  say = (text: string): Promise<void> => this.#add([{ role: "user", content: text }]);

  async listen(signal: AbortSignal): Promise<Leg> {
    for (;;) {
      try {
        return await this.#leg(signal);
      } catch (thrown) {
        // The conversation exceeded the model's unknown limit: retry with less, and keep the work so far.
        if (!callFailedIn(thrown)?.isTooLong || this.#cuts >= MAX_CUTS) throw thrown;
        this.#cuts += 1;
        this.#roomTokens = Math.min(this.#roomTokens, estimateTokens(this.#messages)) / 2;
      }
    }
  }

  judge({ answer, called, text, stop, isAtWork }: Leg): Next {
    const { asked, output, maxSteps } = this.#parts;
    if (called) return { is: "called", ...called };
    if (answer !== undefined) return { is: "answered", text: answerText(answer) };
    if ((stop === "length" || stop === "error") && this.#continued < MAX_CONTINUED) {
      this.#continued += 1;
      return { is: "say", text: stop === "length" ? CONTINUE : REPEAT };
    }
    if (stop === "content-filter" || stop === "error") {
      const why = `the model's provider stopped the answer (${stop})`;
      return { is: "failed", failure: failure("agent-failed", why, "word the task differently") };
    }
    const unreadable = whyUnreadable(asked, text, output);
    const why = this.#steps >= maxSteps ? `you have used all of your ${maxSteps} steps` : unreadable;
    if (this.#hasAskedAgain && isAtWork && unreadable !== undefined)
      return { is: "failed", failure: stillAtWork(Math.min(this.#steps, maxSteps)) };
    if (why === undefined || this.#hasAskedAgain) return { is: "answered", text };
    this.#hasAskedAgain = true;
    return { is: "say", text: askAgain(asked, why) };
  }

  async #leg(signal: AbortSignal): Promise<Leg> {
    const { generateText, isStepCount } = await import("ai");
    const { asked, model, system, maxSteps, tools } = this.#parts;
    const left = Math.max(maxSteps - this.#steps, MIN_STEPS);
    const { steps, text, finishReason } = await generateText({
      ...{ model, tools, instructions: system, messages: [...this.#messages] },
      stopWhen: [isStepCount(left), ({ steps: made }) => wrongInARow(made) >= MAX_WRONG],
      toolCallConcurrency: 1, // One after the other: of two simultaneous edits of a file, one would be lost.
      maxRetries: 0, // The governor decides about retries.
      abortSignal: signal,
      prepareStep: ({ messages }) => ({ messages: [...fitted(messages, this.#roomTokens)] }),
      onStepEnd: async (step) => {
        this.#steps += 1;
        await this.#add(step.response.messages);
      },
    });
    signal.throwIfAborted();
    const calls = steps.at(-1)?.toolCalls ?? [];
    if (wrongInARow(steps) >= MAX_WRONG) throw new CallFailed(wrongCalls(calls.map((call) => call.toolName)));
    const taken = finishReason === "length" ? [] : calls.filter((call) => call.invalid !== true);
    // A call counts more than an answer beside it: a model that calls for a subtask is not done.
    const called = taken.flatMap(({ toolCallId: id, toolName: tool, input }) =>
      isCallTool(tool) ? [{ id, tool, input: input as unknown }] : [],
    )[0];
    const answerName = ANSWER_TOOL[asked];
    const answer = called ? undefined : taken.findLast((call) => call.toolName === answerName);
    await this.#add(resultsForOpen(this.#messages, answer && answerName, called?.id));
    return {
      ...(answer && { answer: answer.input }),
      ...(called && { called: { tool: called.tool, input: called.input } }),
      text,
      stop: finishReason,
      isAtWork: calls.length > 0,
    };
  }

  async #add(messages: readonly ModelMessage[]): Promise<void> {
    if (messages.length === 0) return;
    this.#messages.push(...messages);
    await this.#parts.onMessages(messages);
  }
}

/**
 * The share of the context for messages. The rest is for instructions, tool descriptions and errors of the
 * estimate.
 */
const ROOM_SHARE = 0.8;
/** How often the room for a conversation that is too long is halved. */
const MAX_CUTS = 3;
const MAX_CONTINUED = 2;
/** Steps that are always left to give an answer, and to correct one that was not understood. */
const MIN_STEPS = 3;
/**
 * A model that was told ten times what is wrong with its calls will not learn it, and each try costs a whole
 * conversation.
 */
const MAX_WRONG = 10;

/** A model that had to be stopped has not finished, and half of a change must not land. */
const stillAtWork = (steps: number): Failure =>
  failure(
    "agent-failed",
    `the model was still working after ${steps} steps, and gave no answer when asked for one`,
    "split the task",
  );

type Step = { readonly toolCalls: readonly { readonly invalid?: boolean | undefined }[] };

/** How many of the last steps had only calls that could not be read. */
function wrongInARow(steps: readonly Step[]): number {
  const isWrong = ({ toolCalls }: Step) => toolCalls.length > 0 && toolCalls.every((call) => call.invalid);
  return steps.length - 1 - steps.findLastIndex((step) => !isWrong(step));
}

const wrongCalls = (tools: readonly string[]): Failure =>
  failure(
    "agent-failed",
    `the model called ${[...new Set(tools)].join(", ")} with invalid input, ${MAX_WRONG} times in a row`,
    "use a model that is good at calling tools",
  );

const CONTINUE =
  "You were cut off: that was the longest answer that you can give at once. Continue where you stopped, in smaller parts.";

/** Gemini sometimes writes a call that Google itself cannot read (MALFORMED_FUNCTION_CALL), and then stops. */
const REPEAT =
  "Nothing of your last answer arrived: it held a tool call that could not be read. Say it again, in smaller parts.";

/**
 * Results for calls that were not executed: the answer itself, and calls beside it or in an answer that was cut
 * off; except for the call that stays open. Only calls after the last answer count, because some servers reuse
 * ids.
 */
function resultsForOpen(
  messages: readonly ModelMessage[],
  answerTool: string | undefined,
  open: string | undefined,
): readonly ModelMessage[] {
  const at = messages.findLastIndex((message) => message.role === "assistant");
  const answered = resultIds(messages.slice(at + 1));
  const content = toolCalls(messages[at])
    .filter((call) => !answered.has(call.toolCallId) && call.toolCallId !== open)
    .map((call) => resultOf(call, call.toolName === answerTool ? "taken" : NOT_RUN));
  return content.length === 0 ? [] : [{ role: "tool", content }];
}

/** Finds the `CallFailed` in an error; the SDK may wrap what a model throws. */
function callFailedIn(thrown: unknown): CallFailed | undefined {
  let at = thrown;
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    if (at instanceof CallFailed) return at;
    at = at.cause;
  }
  return undefined;
}

/** Writes a model's turn for people while it goes on: its words, tool calls and results, shortened. */
class Teller {
  readonly #write: (text: string) => void;
  #isInLine = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  begin = (model: string, conversation: "new" | "continued"): void =>
    this.#line(`(${model}, ${conversation === "new" ? "new conversation" : "continued conversation"})`);

  part = (part: StreamPart): void => {
    if (part.type === "text-delta") this.#text(part.delta);
    if (part.type === "tool-call") this.#line(`→ ${part.toolName} ${cut(part.input, MAX_ARGUMENT_CHARS)}`);
  };

  tool = (text: string): void => this.#text(text);

  messages = (messages: readonly ModelMessage[]): void => {
    for (const message of messages) {
      if (message.role === "user") this.#line(`(told: ${cut(textOf(message.content), MAX_RESULT_CHARS)})`);
      if (message.role !== "tool") continue;
      for (const part of message.content)
        if (part.type === "tool-result" && part.toolName !== "bash")
          this.#line(`← ${cut(outputOf(part.output), MAX_RESULT_CHARS)}`);
    }
  };

  trouble = (words: string): void => this.#line(`(${cut(words, MAX_RESULT_CHARS)}: retried)`);

  #text(text: string): void {
    if (text === "") return;
    this.#write(text);
    this.#isInLine = !text.endsWith("\n");
  }

  #line(text: string): void {
    this.#write(`${this.#isInLine ? "\n" : ""}${text}\n`);
    this.#isInLine = false;
  }
}

const MAX_ARGUMENT_CHARS = 300;
const MAX_RESULT_CHARS = 300;

const cut = (text: string, max: number): string => {
  const line = text
    .slice(0, max * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > max || text.length > max * 4
    ? `${line.slice(0, max).toWellFormed()}… (${text.length} characters)`
    : line;
};

const textOf = (content: string | readonly { readonly type: string }[]): string =>
  typeof content === "string"
    ? content
    : content.map((part) => ("text" in part && typeof part.text === "string" ? part.text : "")).join("");

const outputOf = (output: { readonly type: string }): string =>
  "value" in output
    ? typeof output.value === "string"
      ? output.value
      : JSON.stringify(output.value)
    : output.type;
