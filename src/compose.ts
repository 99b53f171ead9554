/**
 * Which parts make a run on this machine? The door to what puts adapters together; nothing else names them. A command
 * that only looks goes to the room that it needs: this door loads all of them, which takes 100 ms.
 */
export { agentProblem, functionAgents, type GivenAgents } from "./compose/agents.ts";
export { cancelStopped } from "./compose/cancel-run.ts";
export { type DeliveryEnd, deliverRun } from "./compose/delivery.ts";
export {
  agentsHere,
  type Candidate,
  type Found,
  findAgent,
  withAgent,
  withUsableFallbacks,
} from "./compose/find-agent.ts";
export { flakyHistory, knownFlaky } from "./compose/flaky-history.ts";
export {
  type AgentFacts,
  type GateFacts,
  type GitFacts,
  type Isolation,
  ignoredSettings,
  inspectAgents,
  inspectGate,
  inspectGit,
  inspectRepository,
  inspectTree,
  isolationOf,
  type RepositoryFacts,
  type Settled,
  type TreeFacts,
} from "./compose/inspect.ts";
export {
  inspectMcp,
  inspectPrices,
  inspectSandbox,
  inspectSpecialists,
  type McpFacts,
  type PriceFacts,
  pricesAsOf,
  promptsProblem,
  type SandboxFacts,
  type SpecialistFacts,
  unconfinedProblem,
} from "./compose/inspect-agent.ts";
export { type Disk, inspectDisk, inspectState, roomFor, type StateFacts } from "./compose/inspect-place.ts";
export { inspectSessions } from "./compose/inspect-session.ts";
export { inspectSetup, type SetupFacts } from "./compose/inspect-setup.ts";
export { type LiveRun, type RunOptions, startRun, tidyRun } from "./compose/live-run.ts";
export {
  askGit,
  type Base,
  baseOf,
  commitOf,
  createRun,
  discardRun,
  type Environment,
  mailboxOf,
  openProject,
  type Project,
  type Salvaged,
  salvageDrop,
  salvageList,
  salvageRestore,
} from "./compose/project.ts";
export { branchOf, type Removal, removalOf, removeRun } from "./compose/remove-run.ts";
export { type GateTried, tryGate } from "./compose/try-gate.ts";
export { filterProblem, gateOf } from "./compose/world.ts";
