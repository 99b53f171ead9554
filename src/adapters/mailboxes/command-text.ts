/** What command is in a file? Another process wrote it, perhaps another version: it is checked, field by field. */
import type { TaskId } from "../../core/task.ts";
import type { Said } from "../../ports/mailbox.ts";

export function readCommand(text: string): Said | undefined {
  try {
    return commandOf(JSON.parse(text) as Readonly<Record<string, unknown>>);
  } catch {
    return undefined; // Not JSON, or null.
  }
}

function commandOf(fields: Readonly<Record<string, unknown>>): Said | undefined {
  const { type, message, task, reason, question, text } = fields;
  switch (type) {
    case "approve":
      return isText(task) ? { type, ...taskIn(task) } : undefined;
    case "pause":
    case "resume":
      return { type };
    case "steer":
      return typeof message === "string" ? { type, message } : undefined;
    case "answer":
      return typeof question === "string" && typeof text === "string" ? { type, question, text } : undefined;
    case "decline":
      return typeof reason === "string" && isText(task) ? { type, reason, ...taskIn(task) } : undefined;
    case "cancel":
      return isText(task) && isText(reason)
        ? {
            type,
            ...taskIn(task),
            ...(reason === undefined ? {} : { reason }),
          }
        : undefined;
    default:
      return undefined;
  }
}

const taskIn = (task: string | undefined) => (task === undefined ? {} : { task: task as TaskId });

const isText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";
