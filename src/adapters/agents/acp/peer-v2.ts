/** How is an agent talked with that speaks version 2 of the protocol, a draft? A prompt ends with a change of state. */
import { fields, text } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";
import { CLIENT, type Ended, loginsIn, type Peer, type PeerParts } from "./peer.ts";
import { guarded } from "./wire.ts";

export async function peerV2({ streams, heard, answer }: PeerParts): Promise<Peer> {
  const sdk = await import("@agentclientprotocol/sdk/experimental/v2");
  let waiting: ((ended: Ended) => void) | undefined;
  const update = (params: unknown) => {
    heard.update(params);
    const state = fields(fields(params)["update"]);
    if (state["sessionUpdate"] !== "state_update" || state["state"] !== "idle") return;
    waiting?.({ stop: text(state["stopReason"]), bill: state, error: state["error"] });
  };
  const connection = sdk
    .client({ name: CLIENT.name })
    .onRequest("*", async ({ method, params }) => {
      const answered = await answer(method, params);
      if ("error" in answered) throw new sdk.RequestError(answered.error.code, answered.error.message);
      return answered.result;
    })
    .connect(guarded(sdk.ndJsonStream(streams.input, streams.output), { ...heard, update }));
  const { agent } = connection;
  return {
    async initialize() {
      const greeting = await agent.request("initialize", {
        protocolVersion: 2,
        info: CLIENT,
        capabilities: {},
      });
      const mcp = fields(fields(fields(greeting.capabilities)["session"])["mcp"]);
      return {
        version: greeting.protocolVersion,
        logins: loginsIn(fields(greeting)),
        takes: { http: mcp["http"] !== undefined && mcp["http"] !== null, sse: false },
        loads: true, // Every agent of this version resumes; what it no longer has, it refuses.
      };
    },
    async authenticate(methodId) {
      await agent.request("auth/login", { methodId });
    },
    async open(cwd, servers) {
      const { sessionId } = await agent.request("session/new", { cwd, mcpServers: servers.map(asV2) });
      return sessionId;
    },
    async load(sessionId, cwd, servers) {
      await agent.request("session/resume", { sessionId, cwd, mcpServers: servers.map(asV2) });
    },
    async prompt(sessionId, message) {
      const { promise: ended, resolve, reject } = Promise.withResolvers<Ended>();
      waiting = resolve;
      connection.signal.addEventListener("abort", () => reject(connection.signal.reason), { once: true });
      ended.catch(() => {}); // The request below may fail first, for the same reason.
      await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: message }] });
      return await ended;
    },
    cancel: (sessionId) => void agent.notify("session/cancel", { sessionId }).catch(() => {}), // It is gone already.
    close: () => connection.close(),
  };
}

/** It has no servers that stream their answers in the older way. */
function asV2(server: McpServer) {
  if (server.type === "stdio") return { ...server, args: [...server.args], env: [...server.env] };
  return { ...server, type: "http" as const, headers: [...server.headers] };
}
