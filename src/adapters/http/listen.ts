/** Opens an HTTP server, with limits on how long a client may keep it waiting. */
import { createServer as createPlain, type Server } from "node:http";
import { createServer as createTls } from "node:https";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { failure, messageOf } from "../../core/failure.ts";
import type { Failed } from "../../core/result.ts";
import { dropSilent } from "./drop-silent.ts";

export type Tls = { readonly cert: string; readonly key: string };
export type Listening = {
  readonly port: number;
  /** Ends open streams, too. */
  readonly close: () => Promise<void>;
};
type Where = {
  readonly host: string;
  readonly port: number;
  readonly tls?: Tls;
  readonly headMs?: number;
  /** How long a client may take for a whole request; by default 1.5 times as long as for its head. */
  readonly requestMs?: number;
  /** How long a connection may be idle between two requests. */
  readonly restMs?: number;
  /** If true, the server does not keep the process alive. */
  readonly isUnref?: boolean;
};
type Fetch = (request: Request, connection: HttpBindings) => Response | Promise<Response>;

/** How long a client may take for the head of a request. */
const HEAD_MS = 10_000;
const limits = ({ headMs = HEAD_MS, requestMs = headMs * 1.5, restMs = HEAD_MS }: Where) => ({
  headersTimeout: headMs,
  requestTimeout: requestMs,
  keepAliveTimeout: restMs,
  maxHeaderSize: 16 * 1024,
  connectionsCheckingInterval: headMs / 5,
});
const MAX_CONNECTIONS = 200;

export async function listen(fetch: Fetch, where: Where): Promise<Listening | Failed> {
  const { host, port, tls, isUnref } = where;
  // The process keeps its own global Request and Response: the server may run inside a program that uses the library.
  const handle = getRequestListener(
    (request, connection) =>
      fetch(hasLength(request) ? request : request.clone(), connection as HttpBindings),
    { overrideGlobalObjects: false },
  );
  const answer: Parameters<typeof createPlain>[1] = (request, response) => void handle(request, response);
  const server = tls ? createTls({ ...limits(where), ...tls }, answer) : createPlain(limits(where), answer);
  server.maxConnections = MAX_CONNECTIONS;
  if (isUnref) server.unref();
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

/**
 * Whether the request has a length. Without one, hono's body limit makes a Request from the request, which Node
 * only allows for its own class: a clone is of that class.
 */
const hasLength = ({ method, headers }: Request) =>
  method === "GET" || method === "HEAD" || headers.has("content-length");

function begin(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, () => resolve());
  return promise;
}
