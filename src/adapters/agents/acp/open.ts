/** Opens an agent that speaks the Agent Client Protocol: with prompts, and with the MCP servers of the user's checkout. */
import path from "node:path";
import { type Failed, hasFailed } from "../../../core/result.ts";
import { readBounded } from "../../files/read-bounded.ts";
import { loadPrompts } from "../../prompts.ts";
import type { AgentSettings } from "../agent-settings.ts";
import { AcpAgent, type AcpOptions } from "./acp-agent.ts";
import { type McpServers, readMcpServers } from "./mcp-servers.ts";

export { acpTalks } from "./task-talk.ts";

type AcpSettings = Omit<AcpOptions, "prompts" | "mcpServers"> &
  Pick<AgentSettings, "promptFolders" | "top" | "passed">;

export async function openAcpAgent({
  promptFolders,
  top,
  passed,
  ...options
}: AcpSettings): Promise<AcpAgent | Failed> {
  const prompts = await loadPrompts(promptFolders);
  if (hasFailed(prompts)) return prompts;
  const { servers } = await mcpServersIn(top, passed);
  return new AcpAgent({ ...options, prompts, mcpServers: servers });
}

/** Of the user's checkout: what a worker writes into its own starts nothing. */
export async function mcpServersIn(top: string, passed: AcpSettings["passed"]): Promise<McpServers> {
  const file = await readBounded(path.join(top, ".mcp.json"), MAX_MCP_BYTES);
  return file.is === "bytes" ? readMcpServers(file.bytes.toString(), passed) : { servers: [], problems: [] };
}

const MAX_MCP_BYTES = 200_000;
