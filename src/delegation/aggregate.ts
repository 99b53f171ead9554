/** What did a number of delegated tasks come to, all in all? */
import type { TaskResult } from "../graph/planned-task.ts";

/** What became of one delegated task. */
export type DelegatedResult = {
  readonly taskId: string;
  readonly subagent: string;
  readonly result: TaskResult;
  /** Attempts after the first. */
  readonly retries: number;
};

export type AggregatedResults = {
  /** None failed; so also when there were none. */
  readonly success: boolean;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly totalRetries: number;
  /** In milliseconds, summed: tasks that ran at the same time count one by one. */
  readonly totalDuration: number;
  /** For people: how many were completed, and each failure with its reason. */
  readonly summary: string;
};

export function aggregateResults(results: readonly DelegatedResult[]): AggregatedResults {
  const failures = results.filter(({ result }) => !result.success);
  const total = results.length;
  const completed = total - failures.length;
  const totalRetries = sum(results.map(({ retries }) => retries));
  const after = totalRetries === 0 ? "" : `, with ${count(totalRetries, "retry", "retries")}`;
  const headline = `Completed ${completed}/${count(total, "task", "tasks")}${after}.`;
  return {
    success: failures.length === 0,
    total,
    completed,
    failed: failures.length,
    totalRetries,
    totalDuration: sum(results.map(({ result }) => result.duration)),
    summary: [headline, ...failures.map(describe)].join("\n"),
  };
}

function describe({ taskId, subagent, result, retries }: DelegatedResult): string {
  const after = retries === 0 ? "" : ` after ${count(retries, "retry", "retries")}`;
  return `- ${taskId} (${subagent}) failed${after}: ${oneLine(result.error) || "no reason was given"}`;
}

/** A summary is a list of lines; a stack trace stays in the result. */
function oneLine(text = ""): string {
  const line = text.trim().replace(/\s*\n.*/s, " …");
  return line.length <= MAX_REASON_CHARS ? line : `${line.slice(0, MAX_REASON_CHARS)}…`;
}

const MAX_REASON_CHARS = 300;

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
