/** Who plans, who works, and who groups failures in a run? The agents that are given, else those that are configured. */
import type { Config } from "../config/schema.ts";
import { isReconciler } from "../config/to-parts.ts";
import type { JobParts } from "../jobs/job-parts.ts";
import { type Agent, NOBODY } from "../ports/agent.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { GivenAgents } from "./parts.ts";

type AgentsOfRun = Pick<JobParts, "worker" | "reconciler"> & { readonly planner: Agent | "none" };

/** A run without an agent is refused before it starts. */
export function agentsOfRun(
  config: Config,
  given: GivenAgents | undefined,
  agentOf: (spec: AgentSpec) => Agent,
): AgentsOfRun {
  const worker = given?.worker ?? (config.agent ? agentOf(config.agent) : NOBODY);
  const planner = given?.planner ?? plannerOf(config, worker, agentOf);
  const isAsked = !given && isReconciler(config);
  return { worker, planner, reconciler: isAsked ? (planner === "none" ? worker : planner) : "rules" };
}

function plannerOf(
  { planner }: Config,
  worker: Agent,
  agentOf: (spec: AgentSpec) => Agent,
): AgentsOfRun["planner"] {
  if (planner === undefined) return worker;
  return planner === "none" ? planner : agentOf(planner);
}
