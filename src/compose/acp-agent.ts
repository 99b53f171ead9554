/** How is an agent put together that speaks the Agent Client Protocol? Its program, account and MCP servers. */
import path from "node:path";
import { AcpAgent } from "../adapters/agents/acp/acp-agent.ts";
import { readMcpServers } from "../adapters/agents/acp/mcp-servers.ts";
import { readBounded } from "../adapters/files/read-bounded.ts";
import { accountsOf } from "../config/accounts.ts";
import type { AgentSpec } from "../config/commands.ts";
import { knownAgent } from "../core/known-agents.ts";
import type { Agent } from "../ports/agent.ts";
import { type Failed, hasFailed } from "../ports/repository.ts";
import { type AgentParts, promptsOf } from "./agent-parts.ts";

export async function openAcpAgent(
  spec: AgentSpec & { readonly kind: "acp" },
  parts: AgentParts,
): Promise<Agent | Failed> {
  const { config, env, top } = parts;
  const prompts = await promptsOf(parts);
  if (hasFailed(prompts)) return prompts;
  const passed = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const])),
    );
  const mcp = await readBounded(path.join(top, ".mcp.json"), MAX_MCP_BYTES);
  const { servers } =
    mcp.is === "bytes"
      ? readMcpServers(mcp.bytes.toString(), passed(config.workspace.pass))
      : { servers: [] };
  return new AcpAgent({
    ...parts.programs,
    command: spec.command,
    name: spec.name,
    account: accountsOf(spec)[0],
    environment: passed(knownAgent(spec.name)?.passes ?? []),
    prompts,
    mcpServers: servers,
    permissions: config.permissions,
  });
}

const MAX_MCP_BYTES = 200_000;
