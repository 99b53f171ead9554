/** Begins a worker's conversation: anew, where its last turn stopped, or with its parent's conversation. */
import type { ModelMessage } from "ai";
import type { WorkBrief } from "../../../core/brief.ts";
import type { JobId } from "../../../core/job.ts";
import type { ToolResponse } from "../../../core/subtask.ts";
import type { Ask } from "../../../ports/agent.ts";
import type { KnownBefore } from "../../../prompting/work-message.ts";
import { resumeMessage, workMessage } from "../../../prompting/work-message.ts";
import type { recall, Speaker } from "./conversation.ts";
import { CALL_FOR, NOT_RUN, onlyPairs, resultIds, resultOf, toolCalls } from "./tool-pairs.ts";

type Beginning = {
  readonly past: readonly ModelMessage[];
  readonly message: string;
  readonly system: string;
};

type BeginningParts = {
  readonly speaker: Speaker;
  readonly maxChars: number;
  readonly recall: (job: JobId) => ReturnType<typeof recall>;
  /** What an earlier turn had called for, as text; undefined if unknown. */
  readonly asked: (job: JobId) => Promise<string | undefined>;
  /** Removes secrets: conversations are recorded without them. */
  readonly redact: (text: string) => string;
};

export async function beginWork(ask: Ask, brief: WorkBrief, parts: BeginningParts): Promise<Beginning> {
  if (brief.goOn) return resume(ask, brief.goOn, parts);
  if (ask.context?.inherits !== undefined) return inherit(ask, ask.context.inherits, parts);
  return anew(ask, {}, parts);
}

const anew = (ask: Ask, known: KnownBefore, { speaker, maxChars }: BeginningParts): Beginning => ({
  past: [],
  message: workMessage(ask, maxChars, known),
  system: speaker.system,
});

/** Everything before is sent exactly as it was then, so that the provider can serve it from its cache. */
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
    // A prompt that was changed meanwhile is for new conversations.
    system: talk.system === undefined || talk.system === parts.redact(system) ? system : talk.system,
  };
}

/**
 * The response becomes the result of the call that asked for it. If that call has its result already, because a
 * question of the subtask came before, the response is told in words.
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

/** For the call of a worker that could not answer the question of its subtask. */
const PASSED_ON = "the question was passed on, and its answer goes to your subtask";

/** Without the call that asked for the subtask: the child must not take it for an order to itself. */
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
