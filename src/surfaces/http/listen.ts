/** Listens on loopback unless told otherwise, with limits on what a client may keep waiting. */
import { createServer as createPlain, type Server } from "node:http";
import { createServer as createTls } from "node:https";
import { getRequestListener } from "@hono/node-server";
import { dropSilent } from "../../compose/serve.ts";
import { failure, messageOf } from "../../core/failure.ts";
import type { Failed } from "../../core/result.ts";

export type Tls = { readonly cert: string; readonly key: string };
type Listening = {
  readonly port: number;
  /** Ends open streams, too. */
  readonly close: () => Promise<void>;
};
type Where = {
  readonly host: string;
  readonly port: number;
  readonly tls?: Tls;
  readonly headMs?: number;
};
type Fetch = (request: Request) => Response | Promise<Response>;

/** How long a client may take for the head of a request; half as long again for all of it. */
const HEAD_MS = 10_000;
const limits = (headMs: number) => ({
  headersTimeout: headMs,
  requestTimeout: headMs * 1.5,
  keepAliveTimeout: HEAD_MS,
  maxHeaderSize: 16 * 1024,
  connectionsCheckingInterval: headMs / 5,
});
const MAX_CONNECTIONS = 200;

export async function listen(
  fetch: Fetch,
  { host, port, tls, headMs = HEAD_MS }: Where,
): Promise<Listening | Failed> {
  const handle = getRequestListener(fetch);
  const answer: Parameters<typeof createPlain>[1] = (request, response) => void handle(request, response);
  const server = tls ? createTls({ ...limits(headMs), ...tls }, answer) : createPlain(limits(headMs), answer);
  server.maxConnections = MAX_CONNECTIONS;
  dropSilent(server);
  try {
    await begin(server, host, port);
  } catch (error) {
    return {
      failure: failure(
        "setup",
        `cannot listen on ${host}:${port}: ${messageOf(error)}`,
        "choose another --port",
      ),
    };
  }
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
}

function begin(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, () => resolve());
  return promise;
}
