/** The client libraries that call the model server in its tests: those that agents use. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, jsonSchema, type LanguageModel, streamText, tool } from "ai";
import type { WireName } from "./reply.ts";

export type Client = {
  readonly name: string;
  readonly wire: WireName;
  model(url: string, apiKey?: string): Exclude<LanguageModel, string>;
};

export const CLIENTS: readonly Client[] = [
  {
    name: "@ai-sdk/openai-compatible",
    wire: "openai-chat",
    model: (url, apiKey = "k") =>
      createOpenAICompatible({ name: "test", baseURL: `${url}/v1`, apiKey, includeUsage: true })(
        "test-model",
      ),
  },
  {
    name: "@ai-sdk/openai, chat",
    wire: "openai-chat",
    model: (url, apiKey = "k") => createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat("test-model"),
  },
  {
    name: "@ai-sdk/openai, responses",
    wire: "openai-responses",
    model: (url, apiKey = "k") => createOpenAI({ baseURL: `${url}/v1`, apiKey })("test-model"),
  },
  {
    name: "@ai-sdk/anthropic",
    wire: "anthropic",
    model: (url, apiKey = "k") => createAnthropic({ baseURL: `${url}/v1`, apiKey })("test-model"),
  },
  {
    name: "@ai-sdk/google",
    wire: "google",
    model: (url, apiKey = "k") =>
      createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })("test-model"),
  },
];

/** One client for each wire whose refusals are played. */
export const WIRES = CLIENTS.filter(({ name, wire }) => name !== "@ai-sdk/openai, chat" && wire !== "google");

export const note = tool({
  description: "Notes a word.",
  inputSchema: jsonSchema<{ readonly word: string }>({
    type: "object",
    properties: { word: { type: "string" } },
    required: ["word"],
    additionalProperties: false,
  }),
  execute: ({ word }) => `noted ${word}`,
});

export type Ended = {
  readonly text: string;
  readonly error: unknown;
  readonly finish: string;
  /** The reason for the end of each step. */
  readonly finishes: readonly string[];
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedTokens: number | undefined;
  /** The number of pieces of text and arguments that came. */
  readonly deltas: number;
  readonly invalidCalls: readonly unknown[];
};

/** Runs all steps of a conversation with one tool; an error is returned and not thrown. */
export async function converse(
  model: LanguageModel,
  {
    signal,
    system = "be brief",
    prompt = "go",
  }: { signal?: AbortSignal; system?: string; prompt?: string } = {},
): Promise<Ended> {
  let error: unknown;
  const result = streamText({
    model,
    instructions: system,
    prompt,
    tools: { note },
    stopWhen: isStepCount(5),
    maxRetries: 0,
    maxOutputTokens: 1_000,
    ...(signal ? { abortSignal: signal } : {}),
    onError: (event) => {
      error = event.error;
    },
  });
  const seen = {
    text: "",
    finish: "none",
    deltas: 0,
    finishes: [] as string[],
    invalidCalls: [] as unknown[],
  };
  let used: { inputTokens?: number | undefined; outputTokens?: number | undefined } = {};
  let cachedTokens: number | undefined;
  try {
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") seen.text += part.text;
      if (part.type === "text-delta" || part.type === "tool-input-delta") seen.deltas += 1;
      if (part.type === "tool-call" && part.invalid) seen.invalidCalls.push(part.input);
      if (part.type === "finish-step") seen.finishes.push(part.finishReason);
      if (part.type === "error") error ??= part.error;
      if (part.type === "abort") error ??= new Error("aborted");
      if (part.type === "finish") {
        seen.finish = part.finishReason;
        used = part.totalUsage;
        cachedTokens = part.totalUsage.inputTokenDetails.cacheReadTokens;
      }
    }
  } catch (thrown) {
    error ??= thrown;
  }
  return {
    ...seen,
    error,
    inputTokens: used.inputTokens,
    outputTokens: used.outputTokens,
    cachedTokens,
  };
}
