/** The port of a wire format: reads requests, writes answers in pieces or whole, and writes errors. */
import type { SeenMessage, Usage, WireName } from "./reply.ts";

export type Wire = {
  readonly name: WireName;
  /** The groups of a pattern are passed to `read`: some paths name the model. */
  readonly path: string | RegExp;
  read(body: Fields, path: readonly string[]): Request;
  /** Pieces are made as they are asked for, because an answer may be endless. */
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
  /** What is wrong if the request refers to something that does not exist. */
  readonly unknown?: string;
};

/** An answer that is ready to be written. */
export type Output = {
  /** The id of the answer, with which the ids of its parts begin. */
  readonly id: string;
  readonly createdAt: number;
  readonly text: Iterable<string>;
  readonly tools: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly stop: "stop" | "length" | "tools";
  /** Known before the answer is written. */
  readonly input: Pick<Usage, "input" | "cached">;
  /** Asked for once, at the end of the answer; its result is counted. */
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
    return text; // Text that is not JSON is shown as it came.
  }
}

/** Joins neighbouring messages of one role into one, except for the user's. */
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

/** At least three pieces, so that every reader has to join them. */
export function* inPieces(text: string, maxChars = 64): Iterable<string> {
  const size = Math.max(1, Math.min(maxChars, Math.ceil(text.length / 3)));
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

export const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

export const event = (type: string, fields: object) => `event: ${type}\n${data({ type, ...fields })}`;
