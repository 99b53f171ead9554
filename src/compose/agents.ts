/** Who plans and works, and is it there? */
import { CommandAgent } from "../adapters/agents/command.ts";
import { FunctionAgent, type Functions } from "../adapters/agents/functions.ts";
import { scripted } from "../adapters/agents/scripted.ts";
import { anchored } from "../app/find-agent.ts";
import type { GivenAgents } from "../app/parts.ts";
import type { AgentSpec } from "../config/commands.ts";
import { type Failure, failure, messageOf } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Agent } from "../ports/agent.ts";
import type { AgentParts } from "./agent-parts.ts";

export const functionAgents = ({ plan, work }: Functions): GivenAgents => ({
  ...(work && { worker: new FunctionAgent({ work }) }),
  ...(plan && { planner: new FunctionAgent({ plan }) }),
});

/** A run without an agent is refused before it starts. */
export function agentsOf(
  parts: AgentParts,
  given: GivenAgents = {},
): { readonly worker: Agent; readonly planner: Agent | "none" } {
  const { agent, planner } = parts.config;
  const worker = given.worker ?? (agent ? agentOf(agent, parts) : NOBODY);
  if (given.planner !== undefined) return { worker, planner: given.planner };
  if (planner === undefined) return { worker, planner: worker };
  return { worker, planner: planner === "none" ? planner : agentOf(planner, parts) };
}

/** A run whose agents were functions of a program can be delivered and tidied up without them. */
export const NOBODY: Agent = {
  turn: async () => ({ is: "failed", failure: failure("agent-unreachable", "no agent is configured") }),
  collect: async () => undefined,
};

function agentOf(written: AgentSpec, parts: AgentParts): Agent {
  const spec = anchored(written, parts.top);
  switch (spec.kind) {
    case "scripted":
      return scripted(spec.script, parts.programs);
    case "command":
      return new CommandAgent({ ...parts.programs, command: spec.command });
    case "model":
      return whenAsked(async () => (await import("./model-agent.ts")).openModelAgent(spec, parts));
    case "acp":
      return whenAsked(async () => (await import("./acp-agent.ts")).openAcpAgent(spec, parts));
  }
}

/** Opened by its first turn: what it needs takes a while to load, and most commands never ask it anything. */
function whenAsked(open: () => Promise<Agent | Failed>): Agent {
  let opened: Promise<Agent | Failed> | undefined;
  const opening = () => {
    opened ??= open().catch((error: unknown) => ({ failure: unopened(error) }));
    return opened;
  };
  return {
    turn: async (ask, signal) => {
      const agent = await opening();
      return hasFailed(agent) ? { is: "failed", failure: agent.failure } : agent.turn(ask, signal);
    },
    collect: async (job) => {
      const agent = await opening();
      return hasFailed(agent) ? undefined : agent.collect(job);
    },
  };
}

/** A file of the installation is missing or broken: an agent must not throw, or its turn is watched for ever. */
const unopened = (error: unknown): Failure =>
  failure("agent-failed", `the agent could not be loaded: ${messageOf(error)}`, "install skein again");
