/** Pairs tool calls with their results in a conversation: providers refuse one without the other. */
import type { ModelMessage } from "ai";
import type { ToolResponse } from "../../../core/subtask.ts";
import type { Called } from "../../../ports/agent.ts";

/**
 * Reduces past turns to what any model understands: without reasoning, without signatures of one provider, and
 * with calls and results in pairs. Pairs are matched by position, too, because some servers reuse ids in every
 * answer.
 */
export function onlyPairs(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.flatMap((message, i): readonly ModelMessage[] => {
    if (message.role === "assistant" && typeof message.content !== "string") {
      const results = resultIds(resultsAfter(messages, i));
      const content = message.content.flatMap((part) =>
        part.type === "text" || (part.type === "tool-call" && results.has(part.toolCallId))
          ? [bare(part)]
          : [],
      );
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    if (message.role === "tool") {
      const asked = messages.slice(0, i).findLast((earlier) => earlier.role !== "tool");
      const calls = new Set(toolCalls(asked).map((call) => call.toolCallId));
      const content = message.content.filter(
        (part) => part.type === "tool-result" && calls.has(part.toolCallId),
      );
      return content.length === 0 ? [] : [{ role: "tool", content }];
    }
    return [message];
  });
}

export const toolCalls = (message: ModelMessage | undefined) =>
  message?.role === "assistant" && typeof message.content !== "string"
    ? message.content.filter((part) => part.type === "tool-call")
    : [];

export const resultIds = (messages: readonly ModelMessage[]): ReadonlySet<string> =>
  new Set(
    messages
      .flatMap((message) => (message.role === "tool" ? message.content : []))
      .flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])),
  );

export const resultOf = (
  { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
  value: string,
) => ({ type: "tool-result" as const, toolCallId, toolName, output: { type: "text" as const, value } });

/** The result of calls beside one that ended the turn. */
export const NOT_RUN = "error: not run, the turn had ended";

function resultsAfter(messages: readonly ModelMessage[], i: number): readonly ModelMessage[] {
  const end = messages.findIndex((message, at) => at > i && message.role !== "tool");
  return messages.slice(i + 1, end < 0 ? undefined : end);
}

function bare<T extends object>(part: T): T {
  const { providerOptions: _, ...rest } = part as T & { readonly providerOptions?: unknown };
  return rest as T;
}

type CallToolName = Called["tool"];

export const isCallTool = (name: string): name is CallToolName => name === "spawn_subtask" || name === "ask";

/** The tool whose call a response belongs to. */
export const CALL_FOR: Readonly<Record<ToolResponse["name"], CallToolName>> = {
  subtask: "spawn_subtask",
  question: "spawn_subtask",
  answer: "ask",
};

/** The tool that takes the answer. Skein does not execute it: calling it ends the turn. */
export const ANSWER_TOOL = {
  plan: "plan",
  "execution-plan": "plan",
  work: "handoff",
  task: "answer",
} as const;

/** The answer without costs in it: Skein counts them, and does not take the model's word. */
export function answerText(input: unknown): string {
  if (typeof input !== "object" || input === null) return JSON.stringify(input);
  const { spent: _spent, metrics: _metrics, ...answer } = input as Readonly<Record<string, unknown>>;
  return JSON.stringify(answer);
}
