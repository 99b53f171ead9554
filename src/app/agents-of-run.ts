/** Chooses the planner and the worker of a run: the agents that are given, else those that are configured. */
import type { Config } from "../config/schema.ts";
import type { JobParts } from "../jobs/job-parts.ts";
import { type Agent, NOBODY } from "../ports/agent.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { GivenAgents } from "./parts.ts";

type AgentsOfRun = Pick<JobParts, "worker"> & { readonly planner: Agent | "none" };

/** `NOBODY` as the worker is safe, because a run without an agent is refused before it starts. */
export function agentsOfRun(
  config: Config,
  given: GivenAgents | undefined,
  agentOf: (spec: AgentSpec) => Agent,
): AgentsOfRun {
  const worker = given?.worker ?? (config.agent ? agentOf(config.agent) : NOBODY);
  const planner = given?.planner ?? plannerOf(config, worker, agentOf);
  return { worker, planner };
}

function plannerOf(
  { planner }: Config,
  worker: Agent,
  agentOf: (spec: AgentSpec) => Agent,
): AgentsOfRun["planner"] {
  if (planner === undefined) return worker;
  return planner === "none" ? planner : agentOf(planner);
}
