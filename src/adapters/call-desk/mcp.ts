/** Serves the two call tools of one job over HTTP, for agents that speak the Model Context Protocol. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { mcpServerOf, type PassCall } from "./mcp-server.ts";

export type McpDoor = {
  readonly answer: (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** `listed` is called once the list of tools was sent. */
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

type Requested = IncomingMessage & { method: string; url: string };

const isListing = (body: unknown): boolean =>
  [body].flat().some((one) => (Object(one) as { readonly method?: unknown }).method === "tools/list");
