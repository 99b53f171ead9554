/** Builds the parts for an engine inside a program without a repository: the log in memory, the agents as functions. */
import { FunctionAgent } from "../adapters/agents/functions.ts";
import { systemClock } from "../adapters/clocks/system.ts";
import { MemoryEventLog } from "../adapters/event-logs/memory.ts";
import { InProcessJobQueue } from "../adapters/job-queues/in-process.ts";
import type { PlanFunction, WorkFunction } from "../ports/agent-functions.ts";

export const embeddedParts = (functions: { readonly plan: PlanFunction; readonly work: WorkFunction }) => ({
  agent: new FunctionAgent(functions, 0), // There is no folder that another agent could get.
  log: new MemoryEventLog(),
  clock: systemClock(),
  queue: (...[runJob]: ConstructorParameters<typeof InProcessJobQueue>) => new InProcessJobQueue(runJob),
});
