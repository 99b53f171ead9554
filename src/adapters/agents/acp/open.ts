/** Opens an agent that speaks the Agent Client Protocol, with prompts and the MCP servers of the user's checkout. */
import { type Failed, hasFailed } from "../../../core/result.ts";
import type { Agrees } from "../../../ports/trust.ts";
import { taskMessage } from "../../../prompting/task-message.ts";
import { loadPrompts } from "../../prompts.ts";
import type { AgentSettings } from "../agent-settings.ts";
import type { OpenTalk } from "../tasks/talk.ts";
import { AcpAgent, type AcpOptions } from "./acp-agent.ts";
import { mcpFileIn } from "./mcp-file.ts";
import { type McpServers, readMcpServers } from "./mcp-servers.ts";

type AcpSettings = Omit<AcpOptions, "prompts" | "mcpServers"> &
  Pick<AgentSettings, "promptFolders" | "top" | "passed" | "agrees">;

export async function openAcpAgent({
  promptFolders,
  top,
  passed,
  agrees,
  ...options
}: AcpSettings): Promise<AcpAgent | Failed> {
  const prompts = await loadPrompts(promptFolders, agrees);
  if (hasFailed(prompts)) return prompts;
  const { servers } = await mcpServersIn(top, passed, agrees);
  return new AcpAgent({ ...options, prompts, mcpServers: servers });
}

/** Reads servers from the user's checkout only: a `.mcp.json` that a worker writes in its own starts nothing. */
export async function mcpServersIn(
  top: string,
  passed: AcpSettings["passed"],
  agrees: Agrees,
): Promise<McpServers> {
  const json = await mcpFileIn(top);
  return json === undefined ? { servers: [], problems: [] } : readMcpServers(json, passed, agrees);
}

/** Talks with an ACP agent for a task: each prompt resumes its session in a new process, or retells the conversation. */
export const acpTalks =
  (agent: AcpAgent): OpenTalk =>
  ({ folder, environment, system, maxMs }, signal) => {
    let known: string | undefined;
    return {
      hasInherited: false, // A new session does not know the parent's conversation.
      say: ({ job, message, conversation }) => {
        const input = conversation.at(-1)?.text ?? "";
        const all = taskMessage({ inherited: conversation.slice(0, -1), context: "", responses: [], input });
        const first = known === undefined ? message : all;
        return agent.say(
          {
            ...{ job, folder, environment, maxMs, resumes: known },
            message: [system.trimEnd(), first.trimEnd(), NO_TOOL].join("\n\n"),
            resumedMessage: message,
            onSession: async (session) => {
              known = session;
            },
          },
          signal,
        );
      },
    };
  };

/** The prompt names the tool of Skein's own agent, which an ACP agent does not have. */
const NO_TOOL =
  "You have no tool `answer` here: end with your answer as one JSON object, as the last thing that you write. " +
  "Change no file.";
