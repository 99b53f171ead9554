/** Calls tools of the MCP servers that the scripted agent was given, as a real client of Skein's server. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

type Pair = { readonly name: string; readonly value: string };
type Server = Readonly<Record<string, unknown>> & { readonly name?: unknown };

const asObject = (pairs: unknown) =>
  Object.fromEntries((pairs as readonly Pair[]).map(({ name, value }) => [name, value]));

let connected: Promise<Client> | undefined;

/**
 * Connects without waiting, as real agents do at the start of a session. `servers`: of `session/new` or `session/load`.
 */
export function connectTo(servers: readonly Server[]): void {
  const ours = servers.find(({ name }) => name === "skein");
  if (!ours) return;
  connected = connect(ours);
  connected.catch(() => {}); // A later call of a tool reports the error.
}

/** The tool's answer as text. */
export async function callTool(name: string, input: Readonly<Record<string, unknown>>): Promise<string> {
  const client = await connected;
  if (!client) return "no server";
  const { isError, content } = await client.callTool({ name, arguments: input });
  return `${isError ? "refused" : "taken"}: ${JSON.stringify(content)}`;
}

async function connect(server: Server): Promise<Client> {
  const client = new Client({ name: "scripted", version: "1" });
  if (server["type"] === "http") {
    const requestInit = { headers: asObject(server["headers"]) };
    await client.connect(new StreamableHTTPClientTransport(new URL(String(server["url"])), { requestInit }));
  } else {
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const [command, args] = [String(server["command"]), server["args"] as string[]];
    const env = { PATH: process.env["PATH"] ?? "", ...asObject(server["env"]) };
    await client.connect(new StdioClientTransport({ command, args, env, stderr: "inherit" }));
  }
  const { tools } = await client.listTools();
  process.stderr.write(`${JSON.stringify({ tools: tools.map(({ name }) => name) })}\n`);
  return client;
}
