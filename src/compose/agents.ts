/** Who plans and works, and is it there? */
import path from "node:path";
import { CommandAgent } from "../adapters/agents/command.ts";
import { FunctionAgent, type Functions } from "../adapters/agents/functions.ts";
import { scripted, scriptedCommand } from "../adapters/agents/scripted.ts";
import { whyUnstartable } from "../adapters/programs/command.ts";
import { nodeOnPath } from "../adapters/programs/node-on-path.ts";
import type { AgentSpec } from "../config/commands.ts";
import type { Config } from "../config/schema.ts";
import { type Failure, failure, messageOf } from "../core/failure.ts";
import { type KnownAgent, knownAgent } from "../core/known-agents.ts";
import type { Agent } from "../ports/agent.ts";
import type { Program } from "../ports/programs.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { Environment, Project } from "./project.ts";

/** Of a program's own, which count for more than what is configured. */
export type GivenAgents = { readonly worker?: Agent; readonly planner?: Agent | "none" };

export const functionAgents = ({ plan, work }: Functions): GivenAgents => ({
  ...(work && { worker: new FunctionAgent({ work }) }),
  ...(plan && { planner: new FunctionAgent({ plan }) }),
});

/** A run without an agent is refused before it starts (`agentProblem`). */
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

/** A path is one of the repository's own: agents work in other folders, where it may not be, or be theirs to change. */
export function anchored(spec: AgentSpec, top: string): AgentSpec {
  if (spec.kind === "model") return spec;
  if (spec.kind === "scripted") return { ...spec, script: path.resolve(top, spec.script) };
  const [program, ...args] = spec.command;
  return program.includes("/") ? { ...spec, command: [path.resolve(top, program), ...args] } : spec;
}

/** Why nothing could be worked on: no agent is named, its program is not there, or its key. */
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
    const problem = await specProblem(spec, top, env);
    if (problem) return problem;
  }
  return undefined;
}

async function specProblem(spec: AgentSpec, top: string, env: Environment): Promise<Failure | undefined> {
  if (spec.kind === "model") {
    const { keyProblem, reachProblem } = await import("../adapters/models/providers.ts");
    return keyProblem(spec.model, env) ?? (await reachProblem(spec.model, AbortSignal.timeout(REACH_MS)));
  }
  const at = { folder: top, environment: { PATH: env["PATH"] ?? "" } };
  const command = spec.kind === "scripted" ? scriptedCommand(spec.script) : spec.command;
  const problem = await whyUnstartable({ ...at, command });
  const known = spec.kind === "acp" ? knownAgent(spec.name) : undefined;
  if (known === undefined) return problem;
  for (const why of [problem, ...(await Promise.all(startedBy(known, at)))])
    if (why) return { ...why, next: `npm install --global ${known.npm}` };
  return nodeProblem(known, at.environment);
}

const startedBy = ({ starts = [] }: KnownAgent, at: Pick<Program, "folder" | "environment">) =>
  starts.map((program) => whyUnstartable({ ...at, command: [program] }));

/** It runs on the Node of the PATH, whichever Skein itself runs on. */
async function nodeProblem(
  { name, node }: KnownAgent,
  environment: Program["environment"],
): Promise<Failure | undefined> {
  const found = node === undefined ? undefined : await nodeOnPath(environment, AbortSignal.timeout(NODE_MS));
  if (node === undefined || found === undefined || Number.parseInt(found, 10) >= node) return undefined;
  return failure(
    "agent-failed",
    `${name} needs Node ${node} or newer; the node on the PATH is ${found}`,
    `put Node ${node} or newer first on the PATH`,
  );
}

/** It takes 40 ms; on a machine that is too busy to answer it is left to the agent to say. */
const NODE_MS = 5_000;

/** On the same machine it takes a ms; whoever does not answer at once is there. */
const REACH_MS = 1_000;
