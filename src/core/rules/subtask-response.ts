/** Builds the response to a worker about the subtask that it asked for. */
import type { SubtaskOrder, ToolResponse } from "../subtask.ts";
import type { Task } from "../task.ts";

/** The response that the end of a subtask gives to the task that waits for it. */
export function responseTo(child: Task, end: Task["state"]): ToolResponse {
  const { type } = child.spec.spawn!;
  const notes = { task_id: child.id };
  if (end.is === "done") {
    const { summary, filesChanged, concerns, suggestions, artefact } = end.handoff;
    return {
      name: "subtask",
      result: {
        status: "COMPLETE",
        content: summary,
        notes: {
          ...{ ...notes, type, files_changed: filesChanged.slice(0, MAX_FILES), concerns, suggestions },
          ...(artefact !== undefined && { artefact }),
        },
      },
    };
  }
  const { reason, message, partial } = whyNot(end);
  const originalError = { type: "TASK_FAILURE", reason, message };
  const details = { subtaskType: type, ...(partial && { partialResults: partial }), originalError };
  const error = {
    type: "TASK_FAILURE",
    reason: "subtask_failure",
    message: `the subtask failed: ${message}`,
    details,
  };
  return {
    name: "subtask",
    result: { status: "FAILED", content: partial ?? "", notes: { ...notes, error } },
  };
}

const MAX_FILES = 100;

function whyNot(end: Task["state"]) {
  if (end.is === "failed") {
    const { kind, message } = end.failure;
    const reason =
      kind === "unmet"
        ? "output_format_failure"
        : kind === "timed-out"
          ? "execution_timeout"
          : "unexpected_error";
    return { reason, message, partial: end.handoff?.summary };
  }
  const message = end.is === "cancelled" ? `cancelled: ${end.reason}` : `it is ${end.is}`;
  return { reason: "execution_halted", message, partial: undefined };
}

/** The response if the subtask was not begun. */
export const notBegun = ({ type }: SubtaskOrder, reason: string, message: string): ToolResponse => ({
  name: "subtask",
  result: {
    status: "FAILED",
    content: "",
    notes: { error: { type: "TASK_FAILURE", reason, message, details: { subtaskType: type } } },
  },
});

export const chainExhausted = (
  { type }: SubtaskOrder,
  { resource, used, limit }: { readonly resource: string; readonly used: number; readonly limit: number },
): ToolResponse => {
  const message = `the subtasks of this task have used up their ${resource}: ${used} of ${limit}`;
  const details = { subtaskType: type };
  const error = { type: "RESOURCE_EXHAUSTION", resource, message, metrics: { used, limit }, details };
  return { name: "subtask", result: { status: "FAILED", content: "", notes: { error } } };
};
