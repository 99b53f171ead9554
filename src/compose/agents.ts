/** Who plans and works, and is it there? */
import path from "node:path";
import { CommandAgent, type CommandOptions } from "../adapters/agents/command.ts";
import { FunctionAgent, type Functions } from "../adapters/agents/functions.ts";
import { scripted, scriptedCommand } from "../adapters/agents/scripted.ts";
import { whyUnstartable } from "../adapters/programs/command.ts";
import type { AgentSpec } from "../config/commands.ts";
import type { Config } from "../config/schema.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { Agent } from "../ports/agent.ts";
import type { Environment, Project } from "./project.ts";

type Options = Omit<CommandOptions, "command">;

/** Of a program's own, which count for more than what is configured. */
export type GivenAgents = { readonly worker?: Agent; readonly planner?: Agent | "none" };

export const functionAgents = ({ plan, work }: Functions): GivenAgents => ({
  ...(work && { worker: new FunctionAgent({ work }) }),
  ...(plan && { planner: new FunctionAgent({ plan }) }),
});

/** A run without an agent is refused before it starts (`agentProblem`). */
export function agentsOf(
  { agent, planner }: Config,
  top: string,
  options: Options,
  given: GivenAgents = {},
): { readonly worker: Agent; readonly planner: Agent | "none" } {
  const worker = given.worker ?? (agent ? agentOf(anchored(agent, top), options) : NOBODY);
  if (given.planner !== undefined) return { worker, planner: given.planner };
  if (planner === undefined) return { worker, planner: worker };
  return { worker, planner: planner === "none" ? planner : agentOf(anchored(planner, top), options) };
}

/** A run whose agents were functions of a program can be delivered and tidied up without them. */
const NOBODY: Agent = {
  turn: async () => ({ is: "failed", failure: failure("agent-unreachable", "no agent is configured") }),
  collect: async () => undefined,
};

const agentOf = (spec: AgentSpec, options: Options): Agent =>
  spec.kind === "scripted"
    ? scripted(spec.script, options)
    : new CommandAgent({ ...options, command: spec.command });

/** A path is one of the repository's own: agents work in other folders, where it may not be, or be theirs to change. */
function anchored(spec: AgentSpec, top: string): AgentSpec {
  if (spec.kind === "scripted") return { ...spec, script: path.resolve(top, spec.script) };
  const [program, ...args] = spec.command;
  return program.includes("/") ? { ...spec, command: [path.resolve(top, program), ...args] } : spec;
}

/** Why nothing could be worked on: no agent is named, or its program is not there. */
export async function agentProblem(
  project: Pick<Project, "located">,
  config: Config,
  env: Environment,
): Promise<Failure | undefined> {
  if (config.agent === undefined) {
    return failure(
      "agent-unreachable",
      "no agent is configured",
      "name a program that does the work, such as --agent ./my-agent.sh, or agent: in skein.yaml; or try skein demo",
    );
  }
  const planner = config.planner === undefined || config.planner === "none" ? [] : [config.planner];
  const { top } = project.located;
  for (const spec of [config.agent, ...planner].map((one) => anchored(one, top))) {
    const problem = await whyUnstartable({
      command: spec.kind === "scripted" ? scriptedCommand(spec.script) : spec.command,
      folder: top,
      environment: { PATH: env["PATH"] ?? "" },
    });
    if (problem) return problem;
  }
  return undefined;
}
