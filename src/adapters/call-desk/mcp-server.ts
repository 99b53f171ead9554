/** Which tools does Skein's own MCP server have? The two by which a worker calls, wherever the calls then go. */
import { McpServer } from "@modelcontextprotocol/server";
import { CALL_TOOLS, type Call, type CallTool, TOOL_WORDS } from "./tools.ts";

/** Sends a call on. What the agent is told, and whether the call was taken. */
export type PassCall = (call: Call) => Promise<{ readonly isTaken: boolean; readonly message: string }>;

export function mcpServerOf(pass: PassCall): McpServer {
  const server = new McpServer({ name: "skein", version: "1" }, { capabilities: { tools: {} } });
  for (const tool of CALL_TOOLS) addTool(server, tool, pass);
  return server;
}

function addTool(server: McpServer, tool: CallTool, pass: PassCall): void {
  const words = { ...TOOL_WORDS[tool], annotations: HARMLESS };
  // Without the mark, Claude shows a tool only to who searches for it.
  server.registerTool(tool, { ...words, _meta: { "anthropic/alwaysLoad": true } }, async (input) => {
    const { isTaken, message } = await pass({ tool, input });
    return { content: [{ type: "text" as const, text: message }], ...(!isTaken && { isError: true }) };
  });
}

/** All three are said: codex has a model review each call of a tool that may destroy something or reach the world. */
const HARMLESS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
