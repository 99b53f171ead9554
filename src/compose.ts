/**
 * Which parts make a run on this machine? The door to what puts adapters together; nothing else names them. A command
 * that only looks goes to the room that it needs: this door loads all of them, which takes 100 ms.
 */
export { functionAgents } from "./compose/agents.ts";
export {
  type AgentFacts,
  type GateFacts,
  type GitFacts,
  type InspectedRepository,
  type Isolation,
  ignoredSettings,
  inspectAgents,
  inspectGate,
  inspectGit,
  inspectRepository,
  inspectTree,
  isolationOf,
  type Settled,
  type TreeFacts,
} from "./compose/inspect.ts";
export {
  inspectMcp,
  inspectSpecialists,
  type McpFacts,
  type SpecialistFacts,
} from "./compose/inspect-agent.ts";
export { type Disk, inspectDisk, inspectState, roomFor, type StateFacts } from "./compose/inspect-place.ts";
export { inspectSessions } from "./compose/inspect-session.ts";
export { inspectSetup, type SetupFacts } from "./compose/inspect-setup.ts";
export { partsOf } from "./compose/parts.ts";
export {
  askGit,
  commitOf,
  type Environment,
  gitIn,
  mailboxOf,
  openProject,
  type Project,
  salvageDrop,
  salvageList,
  salvageRestore,
} from "./compose/project.ts";
export { branchOf, type Removal, removalOf, removeRun } from "./compose/remove-run.ts";
export { type GateTried, tryGate } from "./compose/try-gate.ts";
