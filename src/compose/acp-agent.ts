/** How is an agent put together that speaks the Agent Client Protocol? Its program, account and MCP servers. */
import path from "node:path";
import { AcpAgent } from "../adapters/agents/acp/acp-agent.ts";
import { type McpServers, readMcpServers } from "../adapters/agents/acp/mcp-servers.ts";
import { readBounded } from "../adapters/files/read-bounded.ts";
import { accountsOf } from "../config/accounts.ts";
import type { AgentSpec } from "../config/commands.ts";
import { type KnownAgent, knownAgent } from "../config/known-agents.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { type AgentParts, promptsOf } from "./agent-parts.ts";
import type { Environment } from "./project.ts";

export async function openAcpAgent(
  spec: AgentSpec & { readonly kind: "acp" },
  parts: Pick<AgentParts, "config" | "env" | "top" | "programs">,
): Promise<AcpAgent | Failed> {
  const { config, env } = parts;
  const prompts = await promptsOf(parts);
  if (hasFailed(prompts)) return prompts;
  const { servers } = await mcpServersOf(parts);
  const known = knownAgent(spec.name);
  return new AcpAgent({
    ...parts.programs,
    command: spec.command,
    name: spec.name,
    account: accountsOf(spec)[0],
    environment: known ? environmentOf(known, env) : {},
    readsItself: known?.readsItself ?? false,
    prompts,
    mcpServers: servers,
    permissions: config.permissions,
  });
}

function environmentOf({ passes, tells }: KnownAgent, env: Environment): Readonly<Record<string, string>> {
  const own = passed(env, passes);
  return { ...own, ...tells?.(own) };
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
