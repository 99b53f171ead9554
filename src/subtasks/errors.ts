/** Makes the error values of tasks, which go to the task above in `notes.error`; nothing is thrown between tasks. */

import { messageOf } from "../core/failure.ts";
import type { FailureDetails, FailureReason, HandledTaskResult, TaskError } from "../ports/subtasks.ts";
import { isRecord } from "../text/json.ts";

export const taskFailure = (reason: FailureReason, message: string, details?: FailureDetails): TaskError => ({
  type: "TASK_FAILURE",
  reason,
  message,
  ...(details && { details }),
});

export const exhausted = (
  resource: string,
  metrics: { readonly used: number; readonly limit: number },
): TaskError => ({
  type: "RESOURCE_EXHAUSTION",
  resource,
  message: `no ${resource} left: ${metrics.used} of ${metrics.limit} used`,
  metrics,
});

export const failedResult = (error: TaskError, content = ""): HandledTaskResult => ({
  content,
  status: "FAILED",
  notes: { error },
});

export const withDetails = (error: TaskError, details: FailureDetails): TaskError => ({
  ...error,
  details: { ...details, ...error.details },
});

export const thrownError = (what: string, thrown: unknown): TaskError =>
  taskFailure("unexpected_error", `${what}: ${messageOf(thrown)}`);

export const partialOf = ({ content, notes }: HandledTaskResult): unknown =>
  notes.error?.details?.partialResults ?? (content === "" ? undefined : content);

export function asSubtaskFailure(type: string, id: string, result: HandledTaskResult): HandledTaskResult {
  const original = result.notes.error ?? taskFailure("unexpected_error", "failed without a reason");
  const partialResults = partialOf(result);
  const error = taskFailure("subtask_failure", `subtask ${id} (${type}) failed: ${original.message}`, {
    subtaskType: type,
    subtaskId: id,
    ...(partialResults !== undefined && { partialResults }),
    originalError: original,
  });
  return { ...result, notes: { ...result.notes, error } };
}

const STATUSES: ReadonlySet<unknown> = new Set(["COMPLETE", "CONTINUATION", "FAILED", "NEEDS_INPUT"]);

/** Reads a handler's answer as far as it can be used. A FAILED result without an error gets one. */
export function readResult(answer: unknown): HandledTaskResult {
  const { content, status, notes = {} } = Object(answer) as Partial<Record<keyof HandledTaskResult, unknown>>;
  if (typeof content !== "string" || !STATUSES.has(status) || !isRecord(notes))
    return failedResult(
      taskFailure("unexpected_error", "the handler must answer {content, status, notes}, and did not"),
      typeof content === "string" ? content : "",
    );
  const result = { content, status, notes } as HandledTaskResult;
  if (status !== "FAILED" || isError(notes["error"])) return result;
  return {
    ...result,
    notes: { ...notes, error: taskFailure("unexpected_error", content || "failed without a reason") },
  };
}

const isError = (value: unknown): value is TaskError =>
  isRecord(value) &&
  typeof value["message"] === "string" &&
  (value["type"] === "TASK_FAILURE"
    ? typeof value["reason"] === "string"
    : value["type"] === "RESOURCE_EXHAUSTION" && typeof value["resource"] === "string");
