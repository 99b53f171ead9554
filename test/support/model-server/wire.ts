/** What must each wire format be able to do? Read a request, write an answer piece by piece or whole, say an error. */
import type { SeenMessage, Usage, WireName } from "./reply.ts";

export type Wire = {
  readonly name: WireName;
  /** A shape's groups are handed to `read`: some name the model in the path. */
  readonly path: string | RegExp;
  read(body: Fields, path: readonly string[]): Request;
  /** Made as they are asked for, because an answer may be endless. */
  pieces(answer: Output, request: Request): Iterable<string>;
  whole(answer: Output, request: Request): unknown;
  error(status: number, message: string): unknown;
  errorEvent(body: unknown): string;
};

export type Request = {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly SeenMessage[];
  readonly tools: readonly string[];
  readonly stream: boolean;
  readonly body: Fields;
  /** It refers to something that is not there. */
  readonly unknown?: string;
};

/** An answer, ready to be written. */
export type Output = {
  /** Of the answer, and the beginning of what its parts are called. */
  readonly id: string;
  readonly createdAt: number;
  readonly text: Iterable<string>;
  readonly tools: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly stop: "stop" | "length" | "tools";
  /** Known from the start. */
  readonly input: Pick<Usage, "input" | "cached">;
  /** Asked for once, with the end of the answer: what it says is counted. */
  usage(): Usage;
};

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A text, or the texts of a list of parts, whatever the wire calls their type. */
export const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : listOf(value)
        .map((part) => (typeof part === "string" ? part : (fieldsOf(part)["text"] ?? "")))
        .join("\n");

export function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return text; // What is no JSON is shown as it came.
  }
}

/** Neighbours of one side become one message, except for what the user says. */
export function joined(messages: readonly Partial<SeenMessage>[]): readonly SeenMessage[] {
  const all: SeenMessage[] = [];
  for (const { role = "user", text = "", toolCalls = [], toolResults = [] } of messages) {
    const last = all.at(-1);
    if (last?.role !== role || role === "user") all.push({ role, text, toolCalls, toolResults });
    else
      all[all.length - 1] = {
        role,
        text: [last.text, text].filter(Boolean).join("\n"),
        toolCalls: [...last.toolCalls, ...toolCalls],
        toolResults: [...last.toolResults, ...toolResults],
      };
  }
  return all;
}

/** In at least three pieces, so that no reader gets along without putting them together. */
export function* inPieces(text: string, maxChars = 64): Iterable<string> {
  const size = Math.max(1, Math.min(maxChars, Math.ceil(text.length / 3)));
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

export const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

export const event = (type: string, fields: object) => `event: ${type}\n${data({ type, ...fields })}`;
