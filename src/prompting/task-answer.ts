/** What result is in the words of an agent? JSON as its prompt says; any other words are the content of a complete one. */
import { findJson, type Json } from "../core/json-salvage.ts";
import type { ReturnStatus, TaskNotes, TaskResult } from "../ports/subtasks.ts";

/** Nothing of it is trusted: it is cut to its limits, what is ours to say is left out, and unknown fields are named. */
export function readTaskAnswer(said: string): TaskResult {
  const text = said.slice(0, MAX_CHARS);
  const cut = said.length > MAX_CHARS ? { cut_chars: said.length - MAX_CHARS } : {};
  const answer = answerIn(text);
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
  const message = result.content || messageIn(notes) || "the agent says that it failed, and not why";
  const error = { type: "TASK_FAILURE", reason: "unexpected_error", message } as const;
  return { ...result, status: "FAILED", notes: { ...result.notes, error } };
}

/** As much as is read of any answer. */
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

/** The last object of that form: agents think aloud before it. */
function answerIn(text: string): { readonly status: ReturnStatus; readonly fields: Fields } | undefined {
  let last: ReturnType<typeof answerIn>;
  for (const found of findJson(text)) {
    if (found.is !== "whole" || !(found.value instanceof Map)) continue;
    const { value } = found;
    const status = value.get("status");
    const upper = typeof status === "string" ? status.trim().toUpperCase() : undefined;
    // A result may have a status of its own: {"status": "failed", "tests": 3}.
    if (STATUSES.has(upper) && (value.has("content") || value.has("notes")))
      last = { status: upper as ReturnStatus, fields: plainOf(value) as Fields };
  }
  return last;
}

/** `fromEntries` makes a key such as "__proto__" a key like any other. */
function plainOf(value: Json): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, plainOf(one)]));
  return Array.isArray(value) ? value.map(plainOf) : value;
}

/** What the engine says of a task, an agent does not: costs, ids, reasons. */
const OURS = ["usage", "error", "task_id", "context", "warnings", "artefact", "answered_by"];

function notesOf(notes: unknown): TaskNotes {
  if (typeof notes !== "object" || notes === null || Array.isArray(notes))
    return { notes_left_out: "notes are no object" };
  if (JSON.stringify(notes).length > MAX_NOTES_CHARS)
    return { notes_left_out: `notes have more than ${MAX_NOTES_CHARS} characters` };
  return Object.fromEntries(Object.entries(notes).filter(([name]) => !OURS.includes(name)));
}

function messageIn(notes: unknown): string {
  const { error } = Object(notes) as { readonly error?: unknown };
  const { message = error } = Object(error) as { readonly message?: unknown };
  return typeof message === "string" ? message : "";
}
