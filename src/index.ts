/**
 * What does a program get from Skein? The whole as `createOrchestrator`, the subplanner as `decomposeAndExecute`, and
 * the parts, each usable without the others. Importing it is cheap: what the first two need is loaded when called.
 *
 * ```ts
 * import { DelegationEngine, TaskGraph } from "skein-agents";
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
 * @module skein-agents
 */
export type { News, PlanBrief, WorkBrief } from "./core/brief.ts";
export type { Failure, FailureKind } from "./core/failure.ts";
export {
  aggregateHandoffs,
  createFailureHandoff,
  type Handoff,
  type HandoffStatus,
  type Metrics,
} from "./core/handoff.ts";
export type { Event as RunEvent, RunEnd } from "./core/log/event.ts";
export { type Failed, hasFailed } from "./core/result.ts";
export { DEFAULT_SUBPLANNER_CONFIG, type SubplannerConfig, shouldDecompose } from "./core/rules/policy.ts";
export type { Scope } from "./core/scope.ts";
export type { GivenUpView, RunView, TaskRow } from "./core/view/view.ts";
export type { AggregatedResults, DelegatedResult } from "./delegation/aggregate.ts";
export { aggregateResults } from "./delegation/aggregate.ts";
export type { Attempt, AttemptExecutor, AttemptResult, FailedAttempt, Timing } from "./delegation/attempt.ts";
export {
  DEFAULT_SUBAGENT,
  DelegationEngine,
  type DelegationOptions,
  type Mapping,
  type RetriedResult,
} from "./delegation/delegation-engine.ts";
export { HEURISTICS, type Heuristic } from "./delegation/heuristics.ts";
export type { TaskType } from "./delegation/keywords.ts";
export { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./delegation/retry-policy.ts";
export type { HandedContext } from "./delegation/shared-context.ts";
export { CycleError } from "./graph/dag.ts";
export type { ExecuteOptions, ExecutorResult, TaskContext, TaskExecutor } from "./graph/execution.ts";
export type {
  ExecutionSummary,
  GraphEvent,
  GraphEventOf,
  GraphEventType,
  GraphListener,
  GraphProgress,
  ListenerError,
  TaskEvent,
} from "./graph/graph-events.ts";
export type { PlannedTask, TaskInput, TaskResult, TaskStatus } from "./graph/planned-task.ts";
export { TaskGraph, type TaskGraphOptions } from "./graph/task-graph.ts";
export {
  type AddressedConcern,
  type Place,
  type PlanFunction,
  type PlannedPart,
  type PlannedParts,
  type PlanResult,
  UnreachableError,
  type WorkFunction,
  type WorkReport,
  type WorkResult,
} from "./ports/agent-functions.ts";
export type { DeliveryEnd } from "./ports/delivery.ts";
export type { Heard } from "./ports/mailbox.ts";
export { createOrchestrator, decomposeAndExecute } from "./surfaces/library/library.ts";
export type {
  DecomposeOptions,
  DeliverOptions,
  Orchestrator,
  OrchestratorOptions,
  ParentTask,
  PolicyChanges,
  RunEnded,
  RunHandle,
  RunListed,
  RunWanted,
  Settings,
} from "./surfaces/library/types.ts";
