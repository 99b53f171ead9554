/** Connects to an agent that speaks version 1 of the Agent Client Protocol. */
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import type { Streams } from "../../../ports/programs.ts";
import { fields, type LooseFields } from "../../../text/json.ts";
import { list, text } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";

/** Every request rejects with the error of the agent or the library, and also when the connection closes. */
export type Peer = {
  initialize(): Promise<Greeting>;
  authenticate(method: string): Promise<void>;
  open(folder: string, servers: readonly McpServer[]): Promise<string>;
  /** Resumes a session that another process began, in another folder. */
  load(session: string, folder: string, servers: readonly McpServer[]): Promise<void>;
  prompt(session: string, message: string): Promise<PromptEnd>;
  cancel(session: string): void;
  close(): void;
};

export type PeerParts = {
  readonly streams: Streams;
  readonly onSign: () => void;
  /** Receives the parameters of each `session/update`, in order, before the answer that follows them. */
  readonly onUpdate: (params: unknown) => void;
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
  readonly answer: (method: string, params: unknown) => Promise<ClientAnswer>;
};

export type ClientAnswer =
  | { readonly result: LooseFields }
  | { readonly error: { readonly code: number; readonly message: string } };

export type Greeting = {
  readonly version: number;
  readonly logins: readonly Login[];
  /** Which kinds of MCP servers the agent can use besides programs. */
  readonly takes: { readonly http: boolean; readonly sse: boolean };
  readonly canLoad: boolean;
};

/** `variables`: the environment variables that this login takes its key from, if the agent names them. */
export type Login = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly variables: readonly string[];
};

/** How a prompt ended, and the fields that may say what it cost. */
export type PromptEnd = { readonly stop: string; readonly bill: LooseFields };

const CLIENT = { name: "skein", title: "Skein", version: "1" } as const;

export async function connectPeer(parts: PeerParts): Promise<Peer> {
  const { streams, mayRead, mayWrite, answer } = parts;
  const sdk = await import("@agentclientprotocol/sdk");
  const connection = sdk
    .client({ name: CLIENT.name })
    .onRequest("*", async ({ method, params }) => {
      const answered = await answer(method, params);
      if ("error" in answered) throw new sdk.RequestError(answered.error.code, answered.error.message);
      return answered.result;
    })
    .connect(filtered(sdk.ndJsonStream(streams.input, streams.output), parts));
  const { agent } = connection;
  return {
    async initialize() {
      const greeting = fields(
        await agent.request("initialize", {
          protocolVersion: sdk.PROTOCOL_VERSION,
          clientInfo: CLIENT,
          clientCapabilities: { fs: { readTextFile: mayRead, writeTextFile: mayWrite }, terminal: false },
        }),
      );
      const can = fields(greeting["agentCapabilities"]);
      const takes = fields(can["mcpCapabilities"]);
      return {
        version: Number(greeting["protocolVersion"]),
        logins: loginsIn(greeting),
        takes: { http: takes["http"] === true, sse: takes["sse"] === true },
        canLoad: can["loadSession"] === true,
      };
    },
    async authenticate(methodId) {
      await agent.request("authenticate", { methodId });
    },
    async open(cwd, servers) {
      const session = fields(await agent.request("session/new", { cwd, mcpServers: servers.map(onWire) }));
      return text(session["sessionId"]);
    },
    async load(sessionId, cwd, servers) {
      await agent.request("session/load", { sessionId, cwd, mcpServers: servers.map(onWire) });
    },
    async prompt(sessionId, message) {
      const prompt = [{ type: "text" as const, text: message }];
      const bill = fields(await agent.request("session/prompt", { sessionId, prompt }));
      return { stop: text(bill["stopReason"]), bill };
    },
    cancel: (sessionId) => void agent.notify("session/cancel", { sessionId }).catch(() => {}), // Closed already.
    close: () => connection.close(),
  };
}

/** In the protocol, MCP servers that are programs have no `type`. */
function onWire(server: McpServer) {
  if (server.type !== "stdio") return { ...server, headers: [...server.headers] };
  const { name, command, args, env } = server;
  return { name, command, args: [...args], env: [...env] };
}

const loginsIn = (greeting: LooseFields): readonly Login[] =>
  list(greeting["authMethods"])
    .map(fields)
    .map((one) => ({
      id: text(one["id"]) || text(one["methodId"]),
      name: text(one["name"]),
      description: text(one["description"]),
      variables: list(one["vars"]).map((variable) => text(variable) || text(fields(variable)["name"])),
    }));

/**
 * The library refuses updates of unknown kinds, and prints complaints about them and about unexpected answers to
 * standard error. So updates are taken out here, and unexpected answers are dropped.
 */
function filtered(stream: Stream, { onSign, onUpdate }: PeerParts): Stream {
  const asked = new Set<unknown>();
  const out = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, to) {
      if ("method" in message && "id" in message) asked.add(message.id);
      to.enqueue(message);
    },
  });
  const into = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, to) {
      if ("id" in message) {
        if ("method" in message || asked.delete(message.id)) to.enqueue(message);
      } else if (text(message.method) === "session/update") onUpdate(message.params);
      else if (text(message.method) === "$/cancel_request") to.enqueue(message);
      onSign();
    },
  });
  void out.readable.pipeTo(stream.writable).catch(() => {}); // The process is gone, so pending requests fail, too.
  return { readable: stream.readable.pipeThrough(into), writable: out.writable };
}
