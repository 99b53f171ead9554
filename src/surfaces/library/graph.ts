/**
 * Runs tasks in the order of their dependencies (`TaskGraph`), and gives each to a specialist that is retried on
 * failure (`DelegationEngine`). One file without dependencies, separate from the rest of Skein.
 *
 * ```ts
 * import { DelegationEngine, TaskGraph } from "skein-agents/graph";
 *
 * const graph = new TaskGraph([
 *   { id: "fix", description: "Fix the crash on start" },
 *   { id: "review", description: "Review the change", dependencies: ["fix"] },
 * ]);
 * const delegation = new DelegationEngine();
 * const ask = async (subagent: string, task: { description: string }) => ({ success: true, output: subagent });
 * const { success } = await graph.execute(async (task, { signal }) => {
 *   const { result } = await delegation.executeWithRetry(task, ({ subagent }) => ask(subagent, task), { signal });
 *   return result;
 * });
 * ```
 *
 * @module skein-agents/graph
 */
export {
  type AggregatedResults,
  aggregateResults,
  type DelegatedResult,
} from "../../delegation/aggregate.ts";
export type {
  Attempt,
  AttemptExecutor,
  AttemptResult,
  FailedAttempt,
  Timing,
} from "../../delegation/attempt.ts";
export {
  DelegationEngine,
  type DelegationOptions,
  type Mapping,
  type RetriedResult,
} from "../../delegation/delegation-engine.ts";
export { DEFAULT_SUBAGENT, HEURISTICS, type Heuristic } from "../../delegation/heuristics.ts";
export type { TaskType } from "../../delegation/keywords.ts";
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from "../../delegation/retry-policy.ts";
export type { HandedContext } from "../../delegation/shared-context.ts";
export { CycleError } from "../../graph/dag.ts";
export type { ExecuteOptions, ExecutorResult, TaskContext, TaskExecutor } from "../../graph/execution.ts";
export type {
  ExecutionSummary,
  GraphEvent,
  GraphEventOf,
  GraphEventType,
  GraphListener,
  GraphProgress,
  ListenerError,
  TaskEvent,
} from "../../graph/graph-events.ts";
export type { PlannedTask, TaskInput, TaskResult, TaskStatus } from "../../graph/planned-task.ts";
export { TaskGraph, type TaskGraphOptions } from "../../graph/task-graph.ts";
