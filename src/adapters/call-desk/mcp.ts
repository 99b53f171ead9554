/** Skein's own MCP server with the two tools by which a worker calls, and its HTTP handler. */
import { createMcpHandler, type McpHttpHandler, McpServer } from "@modelcontextprotocol/server";
import { CALL_TOOLS, type Call, TOOL_WORDS } from "./tools.ts";

export const mcpHandlerOf = (pass: PassCall): McpHttpHandler => createMcpHandler(() => mcpServerOf(pass));

/** Forwards a call. Returns whether it was taken, and what the agent is told. */
type PassCall = (call: Call) => Promise<{ readonly isTaken: boolean; readonly message: string }>;

export function mcpServerOf(pass: PassCall): McpServer {
  const server = new McpServer({ name: "skein", version: "1" }, { capabilities: { tools: {} } });
  for (const tool of CALL_TOOLS) {
    const words = { ...TOOL_WORDS[tool], annotations: HARMLESS };
    // Without this mark, Claude loads a tool only after a search.
    server.registerTool(tool, { ...words, _meta: { "anthropic/alwaysLoad": true } }, async (input) => {
      const { isTaken, message } = await pass({ tool, input });
      return { content: [{ type: "text" as const, text: message }], ...(!isTaken && { isError: true }) };
    });
  }
  return server;
}

/** All three are needed: Codex has a model review each call of a tool that may be destructive or reach the network. */
const HARMLESS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
