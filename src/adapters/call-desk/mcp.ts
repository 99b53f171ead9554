/** How does an agent that speaks the Model Context Protocol call over HTTP? The same two tools, for one job. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { mcpServerOf, type PassCall } from "./mcp-server.ts";

export type McpDoor = {
  readonly answer: (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** `listed`: told once the list of tools was sent. */
export function openMcpDoor(pass: PassCall, listed: () => void): McpDoor {
  const handler = createMcpHandler(() => mcpServerOf(pass));
  const node = toNodeHandler(handler);
  return {
    answer: async (request, response, body) => {
      if (isListing(body)) response.once("finish", listed);
      await node(request as Requested, response, body);
    },
    close: () => handler.close(),
  };
}

/** As a server has it. */
type Requested = IncomingMessage & { method: string; url: string };

const isListing = (body: unknown): boolean =>
  [body].flat().some((one) => (Object(one) as { readonly method?: unknown }).method === "tools/list");
