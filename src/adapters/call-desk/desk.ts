/** A local HTTP server of the run, where agents' programs call for subtasks and ask questions. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { messageOf } from "../../core/failure.ts";
import { parseJson } from "../../text/json.ts";
import { dropSilent } from "../http/drop-silent.ts";
import { comesFrom } from "../programs/connections.ts";
import type { McpDoor } from "./mcp.ts";
import { CALL_TOOLS, type Call, isCallTool, TAKEN, takenBefore } from "./tools.ts";

/** Keeps a call so that it outlives this process. Rejects if it cannot. */
type TakeCall = (call: Call) => Promise<void>;

/** What one job needs to call. Closing it at the end of the turn makes the token invalid. */
export type CallPlace = {
  readonly url: string;
  readonly token: string;
  readonly listed: Promise<void>;
  /** Says which process group the job's program is: from then on only that one and all below it may call. */
  readonly startedAs: (group: number) => void;
  readonly close: () => void;
};

export class CallDesk {
  readonly #places = new Set<Place>();
  #server: Promise<Server> | undefined;
  #isClosed = false;

  /** Starts the server for the first job. Rejects if there is no free port, and once the desk is closed. */
  async open(take: TakeCall): Promise<CallPlace> {
    if (this.#isClosed) throw new Error("the run is over");
    this.#server ??= listening((request, response) => this.#answer(request, response));
    const server = await this.#server.catch((error: unknown) => {
      this.#server = undefined; // The next job retries.
      throw error;
    });
    const token = `${TOKEN_PREFIX}${randomBytes(24).toString("hex")}`;
    const place = new Place(digestOf(token), take);
    this.#places.add(place);
    return {
      url: `http://${hostOf(server)}`,
      token,
      listed: place.listed.promise,
      startedAs: (group) => {
        place.group = group;
      },
      close: () => {
        this.#places.delete(place);
        place.close();
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const server = await this.#server?.catch(() => undefined); // It never started.
    for (const place of this.#places) place.close();
    this.#places.clear();
    if (server === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await promise;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const host = hostOf(await this.#server!);
    if (!isFromHere(request, host)) return say(response, 403, "only programs on this machine may call");
    const place = this.#placeOf(request);
    if (place === undefined) return say(response, 401, UNKNOWN);
    if (!(await place.isCalledBy(request.socket))) return say(response, 403, NOT_ITS_OWN);
    if (!PATHS.has(request.url)) return say(response, 404, "there is no such path");
    const body = request.method === "POST" ? await readBody(request) : undefined;
    if (body?.is === "too-large") return say(response, 413, `at most ${body.maxBytes} bytes are accepted`);
    if (body?.is === "too-deep") return say(response, 400, "it is nested too deeply");
    if (body?.is === "cut") return void response.destroy();
    if (request.url === MCP) return (await place.mcp()).answer(request, response, body?.value);
    if (body === undefined) return say(response, 405, "use POST");
    if (request.url === LISTED) place.listed.resolve();
    const { status, message } = request.url === LISTED ? NOTED : await place.call(callIn(body));
    say(response, status, message);
  }

  /** Compares every token in full, so that the time it takes reveals nothing. */
  #placeOf({ headers }: IncomingMessage): Place | undefined {
    const [, token = ""] = /^Bearer (\S{1,200})$/i.exec(headers.authorization ?? "") ?? [];
    const digest = digestOf(token);
    let found: Place | undefined;
    for (const place of this.#places) if (timingSafeEqual(place.digest, digest)) found = place;
    return found;
  }
}

/** Recognised as a secret: see `text/secret-shapes.ts`. */
const TOKEN_PREFIX = "skein_call_";
/** For our own command, for agents that speak MCP, and for the bridge that speaks it for them. */
const [CALL, MCP, LISTED] = ["/call", "/mcp", "/listed"] as const;
const PATHS: ReadonlySet<string | undefined> = new Set([CALL, MCP, LISTED]);
const NOTED: Reply = { status: 200, message: "noted" };
const UNKNOWN = "this token is unknown, or its turn is over: it is valid during one turn of a worker";

const NOT_ITS_OWN =
  "this token belongs to another job: only its own program may use it, and what that has started";

type Reply = { readonly status: number; readonly message: string };

/** Of one job, which may call once. */
class Place {
  readonly digest: Buffer;
  readonly listed = Promise.withResolvers<void>();
  group: number | undefined;
  readonly #known = new WeakSet<Socket>();
  readonly #take: TakeCall;
  #taken: Call | undefined;
  #door: Promise<McpDoor> | undefined;

  constructor(digest: Buffer, take: TakeCall) {
    this.digest = digest;
    this.#take = take;
  }

  /** A token can be read in the environment of a program by all programs of the user. */
  async isCalledBy(socket: Socket): Promise<boolean> {
    const { remotePort: from, localPort: to } = socket;
    if (this.group === undefined || this.#known.has(socket)) return true;
    if (from === undefined || to === undefined) return false; // It is gone.
    if ((await comesFrom(this.group, { from, to })) === false) return false;
    this.#known.add(socket);
    return true;
  }

  async call(call: Call | string): Promise<Reply> {
    if (typeof call === "string") return { status: 400, message: call };
    if (this.#taken) return { status: 409, message: takenBefore(this.#taken.tool) };
    this.#taken = call; // Before the first await: of two simultaneous calls one is taken.
    try {
      await this.#take(call);
      return { status: 200, message: TAKEN };
    } catch (error) {
      this.#taken = undefined;
      return { status: 500, message: `the call could not be kept: ${messageOf(error)}; retry` };
    }
  }

  /** Loaded for the first agent that speaks MCP: it takes 0.3 s. */
  mcp(): Promise<McpDoor> {
    this.#door ??= import("./mcp.ts").then(({ openMcpDoor }) =>
      openMcpDoor(async (call) => {
        const { status, message } = await this.call(call);
        return { isTaken: status === 200, message };
      }, this.listed.resolve),
    );
    return this.#door;
  }

  close(): void {
    void this.#door?.then((door) => door.close()).catch(() => {}); // It was never open.
  }
}

function callIn({ value }: RequestBody & { readonly is: "read" }): Call | string {
  const { tool, input } = Object(value) as { readonly tool?: unknown; readonly input?: unknown };
  if (!isCallTool(tool)) return `a call is JSON with a tool (${CALL_TOOLS.join(" or ")}) and its input`;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? { tool, input } : "input: must be an object";
}

/** A web page must not reach it, under any name of this machine. */
const isFromHere = ({ headers }: IncomingMessage, host: string): boolean => {
  const hosts = [host, host.replace("127.0.0.1", "localhost")];
  const { origin } = headers;
  return (
    hosts.includes(headers.host ?? "") &&
    (origin === undefined || hosts.includes(origin.replace("http://", "")))
  );
};

function say(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(`${JSON.stringify(status === 200 ? { taken: true, message } : { error: message })}\n`);
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

const hostOf = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function listening(answer: Answer): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const server = createServer(LIMITS, (request, response) => {
    void answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else say(response, 500, messageOf(error));
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  dropSilent(server);
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => resolve(server));
  server.unref(); // It must not keep the process of an abandoned run alive.
  return promise;
}

/** For sending one request; the answer may take longer. Agents that speak MCP keep their connection for a while. */
const LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 };
const MAX_CONNECTIONS = 200;

/** Reads the JSON body of a request up to a limit; what is longer is read and dropped. */
type RequestBody =
  /** `value`: undefined if it is not JSON. */
  | { readonly is: "read"; readonly value: unknown }
  | { readonly is: "too-large"; readonly maxBytes: number }
  | { readonly is: "too-deep" }
  | { readonly is: "cut" };

async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_DRAINED_BYTES) break; // Ends the connection.
      if (bytes <= MAX_BYTES) chunks.push(chunk);
    }
  } catch {
    return { is: "cut" };
  }
  if (bytes > MAX_BYTES) return { is: "too-large", maxBytes: MAX_BYTES };
  const text = Buffer.concat(chunks).toString();
  return isTooDeep(text) ? { is: "too-deep" } : { is: "read", value: parseJson(text) };
}

/** Checked before it is parsed: deeper JSON could exceed the stack of its readers. Brackets in strings count, too. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at);
    if (letter === OPEN_BRACE || letter === OPEN_BRACKET) depth += 1;
    else if (letter === CLOSE_BRACE || letter === CLOSE_BRACKET) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const MAX_DEPTH = 200;

/** More than the inputs of any subtask. */
const MAX_BYTES = 1_000_000;
/** A sender that is cut off would see no answer, only a broken connection. */
const MAX_DRAINED_BYTES = 64_000_000;
