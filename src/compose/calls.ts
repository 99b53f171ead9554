/** Connects a worker's program with the run that it works for. */
export { sendCall } from "../adapters/call-desk/send.ts";

/** Serves the calls of an agent that takes MCP servers only as programs, until its input ends. */
export async function serveCalls(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { bridge } = await import("../adapters/call-desk/bridge.ts");
  await bridge({ input: process.stdin, output: process.stdout, environment });
}
