/** A real HTTP server on this machine that plays a model's provider and answers as the test says. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { messageOf } from "../../../src/core/failure.ts";
import { anthropic } from "./anthropic.ts";
import { deliver, estimateInput } from "./deliver.ts";
import { google } from "./google.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { wrongKey } from "./provider-errors.ts";
import type { Answerer, Reply, SeenCall, Usage } from "./reply.ts";
import { type Fields, fieldsOf, type Request, type Wire } from "./wire.ts";

export * from "./provider-errors.ts";
export type * from "./reply.ts";

export type ModelServer = AsyncDisposable & {
  /** `http://127.0.0.1:port`. Clients of OpenAI's and Anthropic's libraries need `/v1` behind it. */
  readonly url: string;
  /** All calls that could be read, also those with a wrong key. */
  readonly calls: readonly SeenCall[];
  /** Rejects when the server is closed, at the signal, or without a signal after half a minute. */
  waitForCall(n: number, signal?: AbortSignal): Promise<SeenCall>;
  /** The number of calls that are being answered. */
  readonly open: number;
  /** The usage of calls that were answered to the end. */
  tokens(): { readonly input: number; readonly output: number; readonly calls: number };
  close(): Promise<void>;
};

export type ModelServerOptions = {
  readonly answer: Answerer;
  /** Other keys get 401; without a list, every key is accepted, and calls without a key as well. */
  readonly keys?: readonly string[];
  /** The models that it lists; it answers to any name. */
  readonly models?: readonly string[];
};

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const desk = new Desk(options);
  const server = http.createServer((request, response) => void desk.take(request, response));
  // A client that waits long between calls must not find its connection closed at its next call.
  server.keepAliveTimeout = MAX_IDLE_MS;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref(); // A test that does not close the server fails by itself, and does not hang.
  const close = async () => {
    desk.close();
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: desk.calls,
    waitForCall: (n, signal) => desk.waitForCall(n, signal ?? AbortSignal.timeout(MAX_WAIT_MS)),
    get open() {
      return desk.open;
    },
    tokens: () => desk.tokens(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const MAX_IDLE_MS = 60_000;
const MAX_WAIT_MS = 30_000;
const MAX_BODY_BYTES = 64_000_000;

class Desk {
  readonly calls: SeenCall[] = [];
  open = 0;
  readonly #options: ModelServerOptions;
  readonly #closed = new AbortController();
  readonly #wires: readonly Wire[] = [openaiChat, openaiResponses(), anthropic, google];
  readonly #arrived = new EventTarget();

  constructor(options: ModelServerOptions) {
    this.#options = options;
  }

  async take(incoming: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    this.open += 1;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#closed.signal]);
    try {
      await this.#route(incoming, response, signal);
    } catch (error) {
      // A client that has gone gets no answer; any other error is a mistake of the test, which must see it.
      if (!signal.aborted) json(response, 500, { error: { message: `model server: ${messageOf(error)}` } });
    } finally {
      this.open -= 1;
    }
  }

  async waitForCall(n: number, signal: AbortSignal): Promise<SeenCall> {
    const stop = AbortSignal.any([signal, this.#closed.signal]);
    while (this.calls.length < n) await once(this.#arrived, "call", { signal: stop });
    return this.calls[n - 1]!;
  }

  tokens() {
    const counted = this.calls.flatMap(({ usage }) => usage ?? []);
    const sum = (of: (usage: Usage) => number) => counted.reduce((all, usage) => all + of(usage), 0);
    return { input: sum(({ input }) => input), output: sum(({ output }) => output), calls: counted.length };
  }

  close(): void {
    this.#closed.abort(new Error("the model server was closed"));
  }

  async #route(incoming: http.IncomingMessage, response: http.ServerResponse, signal: AbortSignal) {
    const { pathname } = new URL(incoming.url ?? "/", "http://localhost");
    const isCount = COUNTS.test(pathname);
    const asked = pathname.replace(/\/count_tokens$/, "");
    const wire = this.#wires.find(({ path }) => pathIn(path, asked) !== undefined);
    const key = keyOf(incoming);
    if (pathname === "/v1/models" && incoming.method === "GET") return this.#models(incoming, response, key);
    if (!wire || incoming.method !== "POST")
      return json(response, 404, { error: { message: `nothing is at ${incoming.method} ${pathname}` } });
    const body = await bodyOf(incoming);
    if (!body) return json(response, 400, wire.error(400, "the request's body is no JSON object"));
    const request = wire.read(body, pathIn(wire.path, asked) ?? []);
    if (request.unknown) return json(response, 404, wire.error(404, request.unknown));
    if (isCount) {
      const tokens = estimateInput(request);
      return json(response, 200, wire === google ? { totalTokens: tokens } : { input_tokens: tokens });
    }
    const call = this.#note(wire, request, key);
    const reply = this.#isKnown(key) ? await this.#answerOf(call, signal) : wrongKey(wire.name);
    const count = (usage: Usage) => {
      call.usage = usage;
    };
    await deliver({ wire, request, reply, response, count }, signal);
  }

  #note(wire: Wire, { model, system, messages, tools, body }: Request, key: string | undefined): Noted {
    const n = this.calls.length + 1;
    const at = Date.now();
    const call: Noted = {
      n,
      wire: wire.name,
      at,
      model,
      key,
      system,
      messages,
      tools,
      body,
      usage: undefined,
    };
    this.calls.push(call);
    this.#arrived.dispatchEvent(new Event("call"));
    return call;
  }

  /** Stops waiting for an answer when its client has gone. */
  async #answerOf(call: SeenCall, signal: AbortSignal): Promise<Reply> {
    signal.throwIfAborted();
    const gone = Promise.withResolvers<never>();
    const leave = () => gone.reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([this.#options.answer(call, signal), gone.promise]);
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #isKnown(key: string | undefined): boolean {
    const { keys } = this.#options;
    return keys === undefined || (key !== undefined && keys.includes(key));
  }

  #models(incoming: http.IncomingMessage, response: http.ServerResponse, key: string | undefined): void {
    const isAnthropic = incoming.headers["anthropic-version"] !== undefined;
    const { models = ["test-model"] } = this.#options;
    if (!this.#isKnown(key)) {
      const { fault } = wrongKey(isAnthropic ? "anthropic" : "openai-chat");
      json(response, fault.status, fault.body);
    } else if (isAnthropic) {
      const data = models.map((id) => ({ type: "model", id, display_name: id, created_at: EPOCH }));
      json(response, 200, { data, has_more: false, first_id: models[0], last_id: models.at(-1) });
    } else {
      const data = models.map((id) => ({ id, object: "model", created: 0, owned_by: "test" }));
      json(response, 200, { object: "list", data });
    }
  }
}

/** The paths by which Anthropic's and Google's clients ask for a call's number of tokens. */
const COUNTS = /\/count_tokens$|:countTokens$/;

/** The groups of a path that matches. */
const pathIn = (path: Wire["path"], asked: string): readonly string[] | undefined =>
  typeof path === "string" ? (path === asked ? [] : undefined) : (path.exec(asked) ?? undefined);

type Noted = Omit<SeenCall, "usage"> & { usage: Usage | undefined };

const EPOCH = "1970-01-01T00:00:00Z";

function keyOf({ headers }: http.IncomingMessage): string | undefined {
  const own = headers["x-api-key"] ?? headers["x-goog-api-key"];
  return typeof own === "string" ? own : /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
}

async function bodyOf(incoming: http.IncomingMessage): Promise<Fields | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return fieldsOf(body) === body ? fieldsOf(body) : undefined;
  } catch {
    return undefined; // The client gets the error in its wire format.
  }
}

function json(response: http.ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
