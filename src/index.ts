/**
 * The library for programs: the whole as `createOrchestrator`, the subplanner as `decomposeAndExecute`, and
 * all of `skein-agents/graph`. Importing it is cheap: what the first two need is loaded when called.
 *
 * ```ts
 * import { createOrchestrator, hasFailed } from "skein-agents";
 *
 * await using skein = createOrchestrator({ repository: "." }); // with the agent of skein.yaml
 * const run = await skein.run({ goal: "Write the notes" });
 * if (hasFailed(run)) throw new Error(run.failure.message);
 * console.log(await run.ended);
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
export * from "./surfaces/library/graph.ts";
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
