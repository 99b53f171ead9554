/** A local HTTP server of the run (the call server), where agents' programs call for subtasks and ask questions. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { messageOf } from "../../core/failure.ts";
import { hasFailed } from "../../core/result.ts";
import { parseJson } from "../../text/json.ts";
import { type Listening, listen } from "../http/listen.ts";
import { comesFrom } from "../programs/connections.ts";
import { CALL_TOOLS, type Call, isCallTool, TAKEN, takenBefore } from "./tools.ts";

/** Keeps a call on disk so that it survives this process. Rejects if it cannot. */
type TakeCall = (call: Call) => Promise<void>;

/** What one job needs to call. Closing it at the end of the turn makes the token invalid. */
export type CallPlace = {
  readonly url: string;
  readonly token: string;
  readonly listed: Promise<void>;
  /** Names the process group of the job's program: from then on only that group and its descendants may call. */
  readonly startedAs: (group: number) => void;
  readonly close: () => void;
};

type Env = { readonly Bindings: HttpBindings; readonly Variables: { place: Place; body: unknown } };

export class CallDesk {
  readonly #places = new Set<Place>();
  #server: Promise<Listening> | undefined;
  #host = "";
  #isClosed = false;

  /**
   * Opens a job's access, and starts the server for the first job. Rejects if there is no free port, or the server
   * is closed.
   */
  async open(take: TakeCall): Promise<CallPlace> {
    if (this.#isClosed) throw new Error("the run is over");
    this.#server ??= this.#listen();
    await this.#server.catch((error: unknown) => {
      this.#server = undefined; // The next job retries.
      throw error;
    });
    const token = `${TOKEN_PREFIX}${randomBytes(24).toString("hex")}`;
    const place = new Place(digestOf(token), take);
    this.#places.add(place);
    return {
      url: `http://${this.#host}`,
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
    const server = await this.#server?.catch(() => undefined); // A server that never started needs no closing.
    for (const place of this.#places) place.close();
    this.#places.clear();
    await server?.close();
  }

  async #listen(): Promise<Listening> {
    const server = await listen(this.#app().fetch, { host: LOOPBACK, port: 0, isUnref: true, ...LIMITS });
    if (hasFailed(server)) throw new Error(server.failure.message);
    this.#host = `${LOOPBACK}:${server.port}`;
    return server;
  }

  #app(): Hono<Env> {
    const app = new Hono<Env>();
    // The rest of a refused request may still be on its way, so its connection is closed.
    app.use(async (c, next) => {
      await next();
      if (!c.res.ok) c.header("connection", "close");
    });
    app.use(async (c, next) =>
      isFromHere(c.req.header(), this.#host)
        ? next()
        : c.json({ error: "only programs on this machine may call" }, 403),
    );
    const refused = { message: () => Response.json({ error: UNKNOWN }, { status: 401 }) };
    app.use(
      bearerAuth<Env>({
        ...{ noAuthenticationHeader: refused, invalidAuthenticationHeader: refused, invalidToken: refused },
        verifyToken: (token, c) => this.#admit(token, c),
      }),
    );
    app.use(async (c, next) =>
      (await c.var.place.isCalledBy(c.env.incoming.socket)) ? next() : c.json({ error: NOT_ITS_OWN }, 403),
    );
    for (const path of [CALL, MCP, LISTED]) app.use(path, limited, shallow);
    app.all(MCP, async (c) => {
      const { body } = c.var;
      if (isListing(body)) c.env.outgoing.once("finish", c.var.place.listed.resolve);
      return (await c.var.place.mcp()).fetch(c.req.raw, body === undefined ? {} : { parsedBody: body });
    });
    app.post(CALL, async (c) => {
      const { status, message } = await c.var.place.call(callIn(c.var.body));
      return c.json(status === 200 ? { taken: true, message } : { error: message }, status);
    });
    app.post(LISTED, (c) => {
      c.var.place.listed.resolve();
      return c.json({ taken: true, message: "noted" });
    });
    for (const path of [CALL, LISTED]) app.all(path, (c) => c.json({ error: "use POST" }, 405));
    app.notFound((c) => c.json({ error: "there is no such path" }, 404));
    app.onError((error, c) =>
      error instanceof HTTPException ? error.getResponse() : c.json({ error: messageOf(error) }, 500),
    );
    return app;
  }

  /** Compares every token in full, so that the time it takes reveals nothing. */
  #admit(token: string, c: Context<Env>): boolean {
    const digest = digestOf(token);
    let found: Place | undefined;
    for (const place of this.#places) if (timingSafeEqual(place.digest, digest)) found = place;
    if (found) c.set("place", found);
    return found !== undefined;
  }
}

/** Redaction recognises tokens by this prefix: see `text/secret-shapes.ts`. */
const TOKEN_PREFIX = "skein_call_";
const LOOPBACK = "127.0.0.1";
/** Paths for Skein's own command, for agents that speak MCP, and for the bridge that speaks MCP for them. */
const [CALL, MCP, LISTED] = ["/call", "/mcp", "/listed"] as const;
const UNKNOWN = "this token is unknown, or its turn is over: it is valid during one turn of a worker";

const NOT_ITS_OWN =
  "this token belongs to another job: only its own program may use it, and what that has started";

type Reply = { readonly status: 200 | 400 | 401 | 409 | 500; readonly message: string };

/** Time limits for sending one request, and for an idle connection. Agents that speak MCP keep theirs for a while. */
const LIMITS = { requestMs: 30_000, restMs: 60_000 };

/** Larger than the inputs of any subtask. */
const MAX_BYTES = 1_000_000;
const limited = bodyLimit({
  maxSize: MAX_BYTES,
  onError: (c) => c.json({ error: `at most ${MAX_BYTES} bytes are accepted` }, 413),
});

/** Reads the JSON of a request: null if it is not JSON. */
const shallow: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.method !== "POST") return next();
  const text = await c.req.text();
  if (isTooDeep(text)) return c.json({ error: "it is nested too deeply" }, 400);
  c.set("body", parseJson(text) ?? null);
  return next();
};

/** The access of one job, which may call once. */
class Place {
  readonly digest: Buffer;
  readonly listed = Promise.withResolvers<void>();
  group: number | undefined;
  readonly #known = new WeakSet<Socket>();
  readonly #take: TakeCall;
  #taken: Call | undefined;
  #isClosed = false;
  #door: Promise<McpHttpHandler> | undefined;

  constructor(digest: Buffer, take: TakeCall) {
    this.digest = digest;
    this.#take = take;
  }

  /**
   * Whether the connection comes from the job's own program. All programs of the user can read its token in the
   * environment.
   */
  async isCalledBy(socket: Socket): Promise<boolean> {
    const { remotePort: from, localPort: to } = socket;
    if (this.group === undefined || this.#known.has(socket)) return true;
    if (from === undefined || to === undefined) return false; // The connection is closed already.
    if ((await comesFrom(this.group, { from, to })) === false) return false;
    this.#known.add(socket);
    return true;
  }

  async call(call: Call | string): Promise<Reply> {
    if (this.#isClosed) return { status: 401, message: UNKNOWN }; // The turn ended while the request was read.
    if (typeof call === "string") return { status: 400, message: call };
    if (this.#taken) return { status: 409, message: takenBefore(this.#taken.tool) };
    this.#taken = call; // Set before the first await, so that only one of two simultaneous calls is taken.
    try {
      await this.#take(call);
      return { status: 200, message: TAKEN };
    } catch (error) {
      this.#taken = undefined;
      return { status: 500, message: `the call could not be kept: ${messageOf(error)}; retry` };
    }
  }

  /** Loaded for the first agent that speaks MCP, because it takes 0.3 s. */
  mcp(): Promise<McpHttpHandler> {
    this.#door ??= import("./mcp.ts").then(({ mcpHandlerOf }) =>
      mcpHandlerOf(async (call) => {
        const { status, message } = await this.call(call);
        return { isTaken: status === 200, message };
      }),
    );
    return this.#door;
  }

  close(): void {
    this.#isClosed = true;
    void this.#door?.then((door) => door.close()).catch(() => {}); // It was never opened.
  }
}

function callIn(value: unknown): Call | string {
  const { tool, input } = Object(value) as { readonly tool?: unknown; readonly input?: unknown };
  if (!isCallTool(tool)) return `a call is JSON with a tool (${CALL_TOOLS.join(" or ")}) and its input`;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? { tool, input } : "input: must be an object";
}

const isListing = (body: unknown): boolean =>
  [body].flat().some((one) => (Object(one) as { readonly method?: unknown }).method === "tools/list");

/** Whether a request names this server's own address, so that a web page cannot reach it under another name. */
function isFromHere(headers: { readonly host?: string; readonly origin?: string }, own: string): boolean {
  const hosts = [own, own.replace(LOOPBACK, "localhost")];
  const { host = "", origin } = headers;
  return hosts.includes(host) && (origin === undefined || hosts.includes(origin.replace("http://", "")));
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

/** Checked before parsing: deeper JSON could exceed the stack of its readers. Brackets in strings count, too. */
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
