/** Opens an agent of any kind, once, at its first turn. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Agent } from "../../ports/agent.ts";
import type { AgentSpec } from "../../ports/agent-spec.ts";
import type { AcpAgent } from "./acp/acp-agent.ts";
import type { AgentParts, AgentSettings } from "./agent-settings.ts";
import { CommandAgent } from "./command.ts";
import { scripted } from "./scripted.ts";
import type { OpenTalk } from "./tasks/talk.ts";

/** `talks`: for tasks outside of a run, with the model of a role. `reach`: only for agents that speak ACP. */
type OpenedAgent = {
  readonly agent: Agent;
  readonly talks?: (model: string | undefined) => OpenTalk;
  readonly reach?: AcpAgent["reach"];
};

export function agentOpener(
  spec: AgentSpec,
  parts: AgentParts & AgentSettings,
): () => Promise<OpenedAgent | Failed> {
  let opened: Promise<OpenedAgent | Failed> | undefined;
  return () => {
    opened ??= openAgent(spec, parts);
    return opened;
  };
}

async function openAgent(spec: AgentSpec, parts: AgentParts & AgentSettings): Promise<OpenedAgent | Failed> {
  const { turns, ...settings } = parts;
  switch (spec.kind) {
    case "scripted":
      return { agent: scripted(spec.script, turns) };
    case "command": {
      const agent = new CommandAgent({ ...turns, command: spec.command });
      return { agent, talks: () => commandTalks(agent) };
    }
    case "model": {
      const { modelOptions, ModelAgent, modelTalks } = await import("./model/open.ts");
      const options = await modelOptions({ ...turns, ...settings, usual: [spec.model, ...spec.fallbacks] });
      if (hasFailed(options)) return options;
      return { agent: new ModelAgent(options), talks: (model) => modelTalks(options, model) };
    }
    case "acp": {
      const { openAcpAgent, acpTalks } = await import("./acp/open.ts");
      const { command, name } = spec;
      const { top, promptFolders, permissions, passed, agrees } = settings;
      const agent = await openAcpAgent({
        ...{ ...turns, command, name, account: name, top, promptFolders, permissions, passed, agrees },
        ...settings.startOf(name),
      });
      if (hasFailed(agent)) return agent;
      return { agent, talks: () => acpTalks(agent), reach: (start, signal) => agent.reach(start, signal) };
    }
  }
}

/** Talks with a program for a task: each turn starts it anew, with the whole conversation in its brief. */
const commandTalks =
  (agent: CommandAgent): OpenTalk =>
  ({ task, folder, environment, system, maxMs }, signal) => ({
    hasInherited: true, // The inherited conversation is in the brief.
    say: ({ job, conversation }) =>
      agent.tell(
        {
          ...{ job, folder, environment, maxMs, kind: "task" },
          brief: { kind: "task", task, prompt: system, conversation },
          variables: { SKEIN_KIND: "task", SKEIN_TASK: task.id },
        },
        signal,
      ),
  });
