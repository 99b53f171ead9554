/** Who talks for tasks? The agent that is configured, as itself or in the role of a specialist that a template names. */
import { acpTalks } from "../adapters/agents/acp/task-talk.ts";
import { CommandAgent } from "../adapters/agents/command.ts";
import { type AgentHandlerParts, agentHandler } from "../adapters/agents/tasks/agent-handler.ts";
import { commandTalks } from "../adapters/agents/tasks/command-talk.ts";
import type { OpenTalk } from "../adapters/agents/tasks/talk.ts";
import { anchored } from "../app/find-agent.ts";
import type { AgentSpec } from "../config/commands.ts";
import { failure } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Specialist } from "../core/specialist.ts";
import type { TaskHandler } from "../ports/subtasks.ts";
import { withSpeciality } from "../prompting/system-prompt.ts";
import { type AgentParts, promptsOf } from "./agent-parts.ts";

type Handlers = {
  readonly handler: TaskHandler;
  readonly handlers: Readonly<Record<string, TaskHandler>>;
};

export async function handlersOf(
  spec: AgentSpec,
  parts: AgentParts,
  given: Omit<AgentHandlerParts, "openTalk" | "system"> & {
    readonly roles: readonly Specialist[];
  },
): Promise<Handlers | Failed> {
  const { roles, ...rest } = given;
  const prompts = await promptsOf(parts);
  if (hasFailed(prompts)) return prompts;
  const talks = await talksOf(anchored(spec, parts.top), parts);
  if (hasFailed(talks)) return talks;
  const as = (role?: Specialist) => {
    const system = withSpeciality(prompts.subtask, role);
    return agentHandler({ ...rest, system, openTalk: talks(role?.model) }) as TaskHandler;
  };
  return { handler: as(), handlers: Object.fromEntries(roles.map((role) => [role.name, as(role)])) };
}

/** `model`: that a role asks for, which only the built-in agent can heed. */
type Talks = (model: string | undefined) => OpenTalk;

async function talksOf(spec: AgentSpec, parts: AgentParts): Promise<Talks | Failed> {
  switch (spec.kind) {
    case "scripted":
      return { failure: SCRIPTED };
    case "command": {
      const talks = commandTalks(new CommandAgent({ ...parts.programs, command: spec.command }));
      return () => talks;
    }
    case "model": {
      const [{ modelOptions }, { modelTalks }] = await Promise.all([
        import("./model-agent.ts"),
        import("../adapters/agents/model/task-talk.ts"),
      ]);
      const options = await modelOptions(spec, parts);
      return hasFailed(options) ? options : (model) => modelTalks(options, model);
    }
    case "acp": {
      const agent = await (await import("./acp-agent.ts")).openAcpAgent(spec, parts);
      if (hasFailed(agent)) return agent;
      const talks = acpTalks(agent);
      return () => talks;
    }
  }
}

const SCRIPTED = failure(
  "policy",
  "a script plays planners and workers; it has no words for a subtask",
  "name another agent, such as --agent ./my-agent.sh or --model anthropic/claude-sonnet-4-5",
);
