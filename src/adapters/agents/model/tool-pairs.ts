/** Which calls of tools have their results? Providers refuse a conversation with one and not the other. */
import type { ModelMessage } from "ai";

/**
 * Of a past turn, what any model understands: no thoughts, no signatures of one provider, and calls and results in
 * pairs. They belong together by their place, too: some servers give the same ids to the calls of every answer.
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

/** Of a call beside one that ended the turn. */
export const NOT_RUN = "error: not run, the turn had ended";

function resultsAfter(messages: readonly ModelMessage[], i: number): readonly ModelMessage[] {
  const end = messages.findIndex((message, at) => at > i && message.role !== "tool");
  return messages.slice(i + 1, end < 0 ? undefined : end);
}

function bare<T extends object>(part: T): T {
  const { providerOptions: _, ...rest } = part as T & { readonly providerOptions?: unknown };
  return rest as T;
}
