/** An MCP server on standard streams that forwards calls, for agents that only take MCP servers as programs. */
import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServerOf } from "./mcp.ts";
import { post, sendCall } from "./send.ts";

type BridgeParts = {
  readonly input: Readable;
  readonly output: Writable;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Runs until its input ends. */
export async function bridge({ input, output, environment }: BridgeParts): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const listed = () => post("/listed", "{}", environment);
  const transport = new WatchedTransport(input, output, { listed, closed: resolve });
  serveStdio(
    () =>
      mcpServerOf(async (call) => {
        const sent = await sendCall(call, environment);
        return sent.is === "outside"
          ? { isTaken: false, message: "not inside a worker's turn" }
          : { isTaken: sent.is === "taken", message: sent.message };
      }),
    { transport },
  );
  await closed;
}

type TransportEvents = { readonly listed: () => Promise<unknown>; readonly closed: () => void };

/** Reports when the list of tools was sent, and when the connection closed. */
class WatchedTransport extends StdioServerTransport {
  readonly #hears: TransportEvents;

  constructor(input: Readable, output: Writable, hears: TransportEvents) {
    super(input, output);
    this.#hears = hears;
  }

  override async send(message: Parameters<StdioServerTransport["send"]>[0]): Promise<void> {
    await super.send(message);
    const { tools } = Object((message as { readonly result?: unknown }).result) as {
      readonly tools?: unknown;
    };
    if (tools !== undefined) await this.#hears.listed();
  }

  override async close(): Promise<void> {
    await super.close();
    this.#hears.closed();
  }
}
