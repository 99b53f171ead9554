/** How is an agent talked with that speaks version 1 of the protocol? All that are known do. */
import { fields, text } from "./loose.ts";
import { CLIENT, loginsIn, type Peer, type PeerParts } from "./peer.ts";
import { guarded } from "./wire.ts";

export async function peerV1({ streams, heard, mayRead, mayWrite, answer }: PeerParts): Promise<Peer> {
  const sdk = await import("@agentclientprotocol/sdk");
  const connection = sdk
    .client({ name: CLIENT.name })
    .onRequest("*", async ({ method, params }) => {
      const answered = await answer(method, params);
      if ("error" in answered) throw new sdk.RequestError(answered.error.code, answered.error.message);
      return answered.result;
    })
    .connect(guarded(sdk.ndJsonStream(streams.input, streams.output), heard));
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
        loads: can["loadSession"] === true,
      };
    },
    async authenticate(methodId) {
      await agent.request("authenticate", { methodId });
    },
    async open(cwd, servers) {
      const session = fields(await agent.request("session/new", { cwd, mcpServers: servers.map(asV1) }));
      return text(session["sessionId"]);
    },
    async load(sessionId, cwd, servers) {
      await agent.request("session/load", { sessionId, cwd, mcpServers: servers.map(asV1) });
    },
    async prompt(sessionId, message) {
      const prompt = [{ type: "text" as const, text: message }];
      const bill = fields(await agent.request("session/prompt", { sessionId, prompt }));
      return { stop: text(bill["stopReason"]), bill };
    },
    cancel: (sessionId) => void agent.notify("session/cancel", { sessionId }).catch(() => {}), // It is gone already.
    close: () => connection.close(),
  };
}

/** Programs carry no type there. */
function asV1(server: Parameters<Peer["open"]>[1][number]) {
  if (server.type !== "stdio") return { ...server, headers: [...server.headers] };
  const { name, command, args, env } = server;
  return { name, command, args: [...args], env: [...env] };
}
