/** How does a model work until it has answered? It calls tools, and ends with the one that takes its answer. */
import type { ModelMessage, ToolSet } from "ai";
import { type Failure, failure, messageOf } from "../../../core/failure.ts";
import { askAgain } from "../../../prompting/ask-again.ts";
import { type AskedFor, whyUnreadable } from "../../../prompting/asked-for.ts";
import type { CallableModel } from "../../models/providers.ts";
import { ANSWER_TOOL, answerText, answerTool } from "./answer-tool.ts";
import { type CallTool, isCallTool } from "./call-tools.ts";
import { estimateTokens, fitted } from "./fit.ts";
import { CallFailed } from "./governed-model.ts";
import { NOT_RUN, resultIds, resultOf, toolCalls } from "./tool-pairs.ts";

export type Session = {
  readonly asked: AskedFor;
  /** The file that its answer must name. */
  readonly output?: string | undefined;
  readonly model: CallableModel;
  readonly system: string;
  /** What was said in earlier turns. */
  readonly past: readonly ModelMessage[];
  readonly message: string;
  /** Besides the one that takes the answer. */
  readonly tools: ToolSet;
  /** For messages, of what the model can hold. */
  readonly roomTokens: number;
  readonly maxSteps: number;
  readonly onMessages: (messages: readonly ModelMessage[]) => Promise<void>;
};

export type SessionEnd =
  /** `text` is the answer as JSON, or whatever was said last. */
  | { readonly is: "answered"; readonly text: string }
  /** One of Skein's own tools was called: that call has no result yet. */
  | { readonly is: "called"; readonly tool: CallTool; readonly input: unknown }
  | { readonly is: "failed"; readonly failure: Failure };

/** Does not throw. */
export async function hold(session: Session, signal: AbortSignal): Promise<SessionEnd> {
  const talk = new Talk(session);
  try {
    await talk.say(session.message);
    for (;;) {
      const leg = await talk.listen(signal);
      const next = talk.judge(leg);
      if (next.is !== "say") return next;
      await talk.say(next.text);
    }
  } catch (thrown) {
    return { is: "failed", failure: failureIn(thrown) };
  }
}

/** What the model said until it stopped by itself, or had to. */
type Leg = {
  /** The input of the tool that takes the answer. */
  readonly answer?: unknown;
  readonly called?: { readonly tool: CallTool; readonly input: unknown };
  readonly text: string;
  readonly stop: string;
  /** Its last word was a call. Some servers say "stop" of it all the same. */
  readonly isAtWork: boolean;
};

type Next = SessionEnd | { readonly is: "say"; readonly text: string };

class Talk {
  readonly #session: Session;
  readonly #messages: ModelMessage[];
  #steps = 0;
  #roomTokens: number;
  #cuts = 0;
  #goesOn = 0;
  #asked = false;

  constructor(session: Session) {
    this.#session = session;
    this.#messages = [...session.past];
    this.#roomTokens = session.roomTokens;
  }

  say = (text: string): Promise<void> => this.#add([{ role: "user", content: text }]);

  async listen(signal: AbortSignal): Promise<Leg> {
    for (;;) {
      try {
        return await this.#leg(signal);
      } catch (thrown) {
        // What the model can hold was not known: tried again with less, and what was done so far is kept.
        if (!isTooLong(thrown) || this.#cuts >= MAX_CUTS) throw thrown;
        this.#cuts += 1;
        this.#roomTokens = Math.min(this.#roomTokens, estimateTokens(this.#messages)) / 2;
      }
    }
  }

  judge({ answer, called, text, stop, isAtWork }: Leg): Next {
    const { asked, output, maxSteps } = this.#session;
    if (called) return { is: "called", ...called };
    if (answer !== undefined) return { is: "answered", text: answerText(answer) };
    if ((stop === "length" || stop === "error") && this.#goesOn < MAX_GOES_ON) {
      this.#goesOn += 1;
      return { is: "say", text: stop === "length" ? GO_ON : AGAIN };
    }
    if (stop === "content-filter" || stop === "error") {
      const why = `the model's provider stopped the answer (${stop})`;
      return { is: "failed", failure: failure("agent-failed", why, "say the task in other words") };
    }
    const unreadable = whyUnreadable(asked, text, output);
    const why = this.#steps >= maxSteps ? `you have used all of your ${maxSteps} steps` : unreadable;
    if (this.#asked && isAtWork && unreadable !== undefined)
      return stillAtWork(Math.min(this.#steps, maxSteps));
    if (why === undefined || this.#asked) return { is: "answered", text };
    this.#asked = true;
    return { is: "say", text: askAgain(asked, why) };
  }

  async #leg(signal: AbortSignal): Promise<Leg> {
    const { generateText, isStepCount } = await import("ai");
    const { asked, model, system, maxSteps } = this.#session;
    const left = Math.max(maxSteps - this.#steps, MIN_STEPS);
    const { steps, text, finishReason } = await generateText({
      model,
      instructions: system,
      messages: [...this.#messages],
      tools: { ...this.#session.tools, ...(await answerTool(asked)) },
      stopWhen: [isStepCount(left), ({ steps: made }) => wrongInARow(made) >= MAX_WRONG],
      toolCallConcurrency: 1, // In the order asked for: two edits of one file at once, and one of them is lost.
      maxRetries: 0, // The governor decides what is tried again, and when.
      abortSignal: signal,
      prepareStep: ({ messages }) => ({ messages: [...fitted(messages, this.#roomTokens)] }),
      onStepEnd: async (step) => {
        this.#steps += 1;
        await this.#add(step.response.messages);
      },
    });
    signal.throwIfAborted();
    const calls = steps.at(-1)?.toolCalls ?? [];
    if (wrongInARow(steps) >= MAX_WRONG) throw new CallFailed(wrongly(calls.map((call) => call.toolName)));
    const taken = finishReason === "length" ? [] : calls.filter((call) => call.invalid !== true);
    // Before an answer beside it: whoever calls for something is not done.
    const called = taken.flatMap(callIn).at(0);
    const answer = called ? undefined : taken.findLast((call) => call.toolName === ANSWER_TOOL[asked]);
    await this.#add(answersToLoose(this.#messages, answer && ANSWER_TOOL[asked], called?.id));
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
    await this.#session.onMessages(messages);
  }
}

/** Who says nothing and stops may be done; whoever had to be stopped is not, and half of a change must not land. */
const stillAtWork = (steps: number): Next => ({
  is: "failed",
  failure: failure(
    "agent-failed",
    `the model was still at work after ${steps} steps, and gave no answer when asked for it`,
    "split the task",
  ),
});

/** How often a conversation that is too long is cut to half of what it was thought to be allowed. */
const MAX_CUTS = 3;
const MAX_GOES_ON = 2;
/** To answer with, and to mend an answer that was not understood. */
const MIN_STEPS = 3;

/** Who was told ten times what is wrong with its call does not find out; each try costs a whole conversation. */
const MAX_WRONG = 10;

type Made = { readonly toolCalls: readonly { readonly invalid?: boolean | undefined }[] };

/** The last steps whose calls could not even be read, all of them. */
function wrongInARow(steps: readonly Made[]): number {
  const isWrong = ({ toolCalls }: Made) => toolCalls.length > 0 && toolCalls.every((call) => call.invalid);
  return steps.length - 1 - steps.findLastIndex((step) => !isWrong(step));
}

const wrongly = (tools: readonly string[]): Failure =>
  failure(
    "agent-failed",
    `the model called ${[...new Set(tools)].join(", ")} with what the tool cannot take, ${MAX_WRONG} times in a row`,
    "use a model that is good at calling tools",
  );

const GO_ON =
  "You were cut off: that was the longest answer that you can give at once. Go on where you stopped, in smaller parts.";

/** Gemini writes a call now and then that Google itself cannot read (MALFORMED_FUNCTION_CALL), and then stops. */
const AGAIN =
  "Nothing of your last answer arrived: it held a call of a tool that could not be read. Say it again, in smaller parts.";

type MadeCall = { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };

const callIn = ({ toolCallId: id, toolName: tool, input }: MadeCall) =>
  isCallTool(tool) ? [{ id, tool, input }] : [];

/**
 * Calls that nobody ran: the one with the answer, and others beside it or in an answer that was cut off; but for the one
 * that stays open. Only what came after the last answer counts: some servers give the same ids to the calls of every
 * answer.
 */
function answersToLoose(
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

const isTooLong = (thrown: unknown): boolean => callFailedIn(thrown)?.isTooLong === true;

function failureIn(thrown: unknown): Failure {
  return (
    callFailedIn(thrown)?.why ?? failure("agent-failed", `the model's turn broke off: ${messageOf(thrown)}`)
  );
}

/** The library may wrap what a model throws. */
function callFailedIn(thrown: unknown): CallFailed | undefined {
  let at = thrown;
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    if (at instanceof CallFailed) return at;
    at = at.cause;
  }
  return undefined;
}
