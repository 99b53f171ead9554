/** Sums up the results of delegated tasks: totals, and a summary for people with the reason of each failure. */
import type { TaskResult } from "../graph/planned-task.ts";
import { amountOf, fieldOf, reasonOf, shown } from "./foreign.ts";

/** The result of one delegated task. */
export type DelegatedResult = {
  readonly taskId: string;
  readonly subagent: string;
  readonly result: TaskResult;
  /** Attempts after the first. */
  readonly retries: number;
};

export type AggregatedResults = {
  /** True if no task failed, also if there were none. */
  readonly success: boolean;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly totalRetries: number;
  /** The sum in milliseconds: tasks that ran at the same time are counted separately. */
  readonly totalDuration: number;
  /** For people: how many were completed, and each failure with its reason. */
  readonly summary: string;
};

/** Results may come from outside: an invalid one counts as failed, and its invalid numbers count as 0. */
export function aggregateResults(results: readonly DelegatedResult[]): AggregatedResults {
  const failures = results.filter(({ result }) => !fieldOf(result, "success"));
  const total = results.length;
  const completed = total - failures.length;
  const totalRetries = sum(results.map(({ retries }) => amountOf(retries) ?? 0));
  const after = totalRetries === 0 ? "" : `, with ${count(totalRetries, "retry", "retries")}`;
  const headline = `Completed ${completed}/${count(total, "task", "tasks")}${after}.`;
  return {
    success: failures.length === 0,
    total,
    completed,
    failed: failures.length,
    totalRetries,
    totalDuration: sum(results.map(({ result }) => amountOf(fieldOf(result, "duration")) ?? 0)),
    summary: [headline, ...failures.map(describe)].join("\n"),
  };
}

function describe({ taskId, subagent, result, retries }: DelegatedResult): string {
  const after = amountOf(retries) ? ` after ${count(retries, "retry", "retries")}` : "";
  const why = oneLine(reasonOf(fieldOf(result, "error"))) || "no reason was given";
  return `- ${shown(taskId)} (${shown(subagent)}) failed${after}: ${why}`;
}

/**
 * The first line of a reason, because a stack trace stays in the result. Uses no pattern, because reasons may be
 * hostile.
 */
function oneLine(text: string): string {
  const trimmed = text.trim();
  const end = trimmed.indexOf("\n");
  const line = end === -1 ? trimmed : `${trimmed.slice(0, end).trimEnd()} …`;
  return line.length <= MAX_REASON_CHARS ? line : `${line.slice(0, MAX_REASON_CHARS)}…`;
}

const MAX_REASON_CHARS = 300;

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
