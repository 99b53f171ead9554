/** What is a session told of its task? What it inherits, its context, tool responses and what it is asked, in this order. */
import type { ContextEntry, TaskResult } from "../ports/subtasks.ts";
import { blockOf, plainText } from "./block.ts";

export type NewsOfTask = {
  /** Of the session that it inherits from; empty where the session has them already. */
  readonly inherited: readonly ContextEntry[];
  /** Empty if there is none, or it was told before. */
  readonly context: string;
  /** Since it was asked the last time. */
  readonly responses: readonly ToolResponse[];
  readonly input: string;
};

export type ToolResponse = { readonly name: string; readonly result: TaskResult };

/** Texts of others stand in fences. They were cut to their limits before. */
export const taskMessage = ({ inherited, context, responses, input }: NewsOfTask): string =>
  [
    ...(inherited.length === 0 ? [] : ["## What was said before", ...inherited.map(inheritedText)]),
    ...(context === "" ? [] : ["## Context", fenced(context)]),
    ...responses.map(responseText),
    ...(inherited.length + context.length + responses.length === 0 ? [] : ["## Now"]),
    `${plainText(input)}\n`,
  ].join("\n\n");

/** As a session hears of it, and as it stands in the conversation. */
export function responseText({ name, result: { status, content, notes } }: ToolResponse): string {
  const more = JSON.stringify(notes);
  return [
    `## Tool response ${plainText(name)}: ${status}`,
    ...(content === "" ? [] : [fenced(content)]),
    ...(more === "{}" ? [] : ["Notes:", fenced(more)]),
  ].join("\n\n");
}

const SAID = {
  context: "Context:",
  input: "Asked:",
  answer: "Answered:",
  tool: "Tool response:",
} as const;

const inheritedText = ({ is, text, name }: ContextEntry): string =>
  `${name === undefined ? SAID[is] : `${SAID[is]} ${plainText(name)}`}\n${fenced(text)}`;

const fenced = (text: string): string => blockOf(plainText(text));
