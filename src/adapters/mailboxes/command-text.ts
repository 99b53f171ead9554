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
  const { type, message, task, reason } = fields;
  switch (type) {
    case "approve":
    case "pause":
    case "resume":
      return { type };
    case "steer":
      return typeof message === "string" ? { type, message } : undefined;
    case "decline":
      return typeof reason === "string" ? { type, reason } : undefined;
    case "cancel":
      return isText(task) && isText(reason)
        ? {
            type,
            ...(task === undefined ? {} : { task: task as TaskId }),
            ...(reason === undefined ? {} : { reason }),
          }
        : undefined;
    default:
      return undefined;
  }
}

const isText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";
