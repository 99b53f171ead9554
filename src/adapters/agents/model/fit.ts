/** Fits a conversation into a token limit: cuts old results and arguments of tools, and notes the cut. */
import type { ModelMessage } from "ai";

/** An average, only to decide what to send; budgets count with a safer number. */
const BYTES_PER_TOKEN = 3;

export const estimateTokens = (messages: readonly ModelMessage[]): number =>
  Math.ceil(
    messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0) / BYTES_PER_TOKEN,
  );

/**
 * Returns the same messages while they fit. Else cuts the oldest long results and arguments of tools until much of
 * the room is free, because a prompt that changes with every call could not be served from the provider's cache.
 * The last two messages stay: the model works on them now.
 */
export function fitted(messages: readonly ModelMessage[], roomTokens: number): readonly ModelMessage[] {
  let left = estimateTokens(messages);
  if (left <= roomTokens) return messages;
  return messages.map((message, i) => {
    if (left <= roomTokens * TARGET_SHARE || i >= messages.length - 2) return message;
    const short = shortened(message);
    left -= estimateTokens([message]) - estimateTokens([short]);
    return short;
  });
}
const TARGET_SHARE = 0.6;

function shortened(message: ModelMessage): ModelMessage {
  if (message.role === "tool")
    return {
      ...message,
      content: message.content.map((part) =>
        part.type === "tool-result" && (part.output.type === "text" || part.output.type === "error-text")
          ? { ...part, output: { ...part.output, value: cutText(part.output.value, AGAIN) } }
          : part,
      ),
    };
  if (message.role === "assistant" && typeof message.content !== "string")
    return {
      ...message,
      content: message.content.map((part) =>
        part.type === "tool-call" ? { ...part, input: shortInput(part.input) } : part,
      ),
    };
  return message;
}

function shortInput(input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const fields = Object.entries(input);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "string" ? cutText(value, "") : value]),
  );
}

const AGAIN = "; call the tool again if you need them";

function cutText(text: string, hint: string): string {
  if (text.length <= MAX_CHARS) return text;
  const kept = text.slice(0, KEPT_CHARS).toWellFormed();
  return `${kept}\n… ${text.length - kept.length} more characters were left out to make room${hint} …`;
}
const MAX_CHARS = 800;
const KEPT_CHARS = 400;
