/** Writes the message to a session of a subtask, and reads its answer. */
import type { ContextEntry, HandledTaskResult, ReturnStatus, TaskNotes } from "../ports/subtasks.ts";
import { findJson, type Json } from "../text/json-salvage.ts";
import { blockOf, plainText } from "./message.ts";

type TaskNews = {
  /** Entries of the session that it inherits from; empty if it has them already. */
  readonly inherited: readonly ContextEntry[];
  /** Empty if there is none, or if it was sent before. */
  readonly context: string;
  /** Tool responses since the last prompt. */
  readonly responses: readonly SessionResponse[];
  readonly input: string;
};

export type SessionResponse = { readonly name: string; readonly result: HandledTaskResult };

/** Untrusted texts are in fences; they were cut to their limits before. */
export const taskMessage = ({ inherited, context, responses, input }: TaskNews): string =>
  [
    ...(inherited.length === 0 ? [] : ["## What was said before", ...inherited.map(inheritedText)]),
    ...(context === "" ? [] : ["## Context", fenced(context)]),
    ...responses.map(responseText),
    ...(inherited.length + context.length + responses.length === 0 ? [] : ["## Now"]),
    `${plainText(input)}\n`,
  ].join("\n\n");

/** A tool response as the session reads it, and as it is stored in the conversation. */
export function responseText({ name, result: { status, content, notes } }: SessionResponse): string {
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

/**
 * Reads JSON as the prompt describes it; any other text is the content of a complete result. Nothing is trusted: texts
 * are cut to their limits, fields that only the engine may set are dropped, and unknown fields are named.
 */
export function readTaskAnswer(said: string): HandledTaskResult {
  const text = said.slice(0, MAX_CHARS);
  const cut = said.length > MAX_CHARS ? { cut_chars: said.length - MAX_CHARS } : {};
  const answer = taskAnswerIn(text);
  if (answer === undefined) return { content: text.trim(), status: "COMPLETE", notes: cut };
  const { status, content = "", notes = {}, ...unknown } = answer.fields;
  const names = Object.keys(unknown).map((name) => name.slice(0, MAX_NAME_CHARS));
  const result = {
    content: typeof content === "string" ? content : JSON.stringify(content),
    notes: {
      ...notesOf(notes),
      ...(names.length > 0 && { unknown_fields: names.slice(0, MAX_NAMES) }),
      ...cut,
    },
  };
  if (answer.status !== "FAILED") return { ...result, status: answer.status };
  const message = result.content || messageIn(notes) || "the agent reports a failure without a reason";
  const error = { type: "TASK_FAILURE", reason: "unexpected_error", message } as const;
  return { ...result, status: "FAILED", notes: { ...result.notes, error } };
}

const MAX_CHARS = 2_000_000;
const MAX_NOTES_CHARS = 200_000;
const MAX_NAMES = 20;
const MAX_NAME_CHARS = 100;

const STATUSES: ReadonlySet<unknown> = new Set<ReturnStatus>([
  "COMPLETE",
  "CONTINUATION",
  "NEEDS_INPUT",
  "FAILED",
]);

type Fields = Readonly<Record<string, unknown>>;

/** The last object of that form, because agents may think aloud before it. */
function taskAnswerIn(text: string): { readonly status: ReturnStatus; readonly fields: Fields } | undefined {
  let last: ReturnType<typeof taskAnswerIn>;
  for (const found of findJson(text)) {
    if (found.is !== "whole" || !(found.value instanceof Map)) continue;
    const { value } = found;
    const status = value.get("status");
    const upper = typeof status === "string" ? status.trim().toUpperCase() : undefined;
    // A result may have a status field itself: {"status": "failed", "tests": 3}.
    if (STATUSES.has(upper) && (value.has("content") || value.has("notes")))
      last = { status: upper as ReturnStatus, fields: plainOf(value) as Fields };
  }
  return last;
}

/** `fromEntries` makes "__proto__" a key like any other. */
function plainOf(value: Json): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, plainOf(one)]));
  return Array.isArray(value) ? value.map(plainOf) : value;
}

const OURS = ["usage", "error", "task_id", "context", "warnings", "artefact", "answered_by"];

function notesOf(notes: unknown): TaskNotes {
  if (typeof notes !== "object" || notes === null || Array.isArray(notes))
    return { notes_left_out: "notes are not an object" };
  if (JSON.stringify(notes).length > MAX_NOTES_CHARS)
    return { ...readByEngine(notes), notes_left_out: `notes have more than ${MAX_NOTES_CHARS} characters` };
  return Object.fromEntries(Object.entries(notes).filter(([name]) => !OURS.includes(name)));
}

/** Notes that decide about a loop or ask for something: kept even if the other notes are too long. */
function readByEngine(notes: object): TaskNotes {
  const { success, subtask_request, question } = notes as TaskNotes;
  return {
    ...(typeof success === "boolean" && { success }),
    ...(subtask_request !== undefined && { subtask_request }),
    ...(question !== undefined && { question }),
  };
}

function messageIn(notes: unknown): string {
  const { error } = Object(notes) as { readonly error?: unknown };
  const { message = error } = Object(error) as { readonly message?: unknown };
  return typeof message === "string" ? message : "";
}
