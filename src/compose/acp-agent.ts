/** How is an agent put together that speaks the Agent Client Protocol? Its program, account and MCP servers. */
import path from "node:path";
import { AcpAgent } from "../adapters/agents/acp/acp-agent.ts";
import { type McpServers, readMcpServers } from "../adapters/agents/acp/mcp-servers.ts";
import { readBounded } from "../adapters/files/read-bounded.ts";
import { accountsOf } from "../config/accounts.ts";
import type { AgentSpec } from "../config/commands.ts";
import { knownAgent } from "../core/known-agents.ts";
import type { Agent } from "../ports/agent.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import { type AgentParts, promptsOf } from "./agent-parts.ts";
import type { Environment } from "./project.ts";

export async function openAcpAgent(
  spec: AgentSpec & { readonly kind: "acp" },
  parts: AgentParts,
): Promise<Agent | Failed> {
  const { config, env } = parts;
  const prompts = await promptsOf(parts);
  if (hasFailed(prompts)) return prompts;
  const { servers } = await mcpServersOf(parts);
  return new AcpAgent({
    ...parts.programs,
    command: spec.command,
    name: spec.name,
    account: accountsOf(spec)[0],
    environment: passed(env, knownAgent(spec.name)?.passes ?? []),
    prompts,
    mcpServers: servers,
    permissions: config.permissions,
  });
}

/** Of the user's checkout: what a worker writes into its own starts nothing. */
export async function mcpServersOf({
  config,
  env,
  top,
}: Pick<AgentParts, "config" | "env" | "top">): Promise<McpServers> {
  const file = await readBounded(path.join(top, ".mcp.json"), MAX_MCP_BYTES);
  return file.is === "bytes"
    ? readMcpServers(file.bytes.toString(), passed(env, config.workspace.pass))
    : { servers: [], problems: [] };
}

const passed = (env: Environment, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const])));

const MAX_MCP_BYTES = 200_000;
