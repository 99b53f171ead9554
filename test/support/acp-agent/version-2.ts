/** The scripted agent in version 2 of the protocol. */
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { play } from "./play.ts";
import { errorOf, nextPrompt, script, session, state, tell } from "./state.ts";
import { connectTo } from "./tools.ts";

export const second = v2
  .agent({ name: "scripted" })
  .onRequest("initialize", () => ({
    protocolVersion: 2,
    info: { name: "scripted", version: "1" },
    capabilities: { session: { mcp: { stdio: {}, http: {} } } },
  }))
  .onRequest("session/new", ({ params }) => {
    tell(params);
    if (script.connects) connectTo(params.mcpServers ?? []);
    return session;
  })
  .onRequest("session/resume", ({ params }) => {
    if (script.loads === undefined || params.sessionId !== session.sessionId)
      throw v2.RequestError.invalidParams({}, "no such session");
    tell({ loads: params.sessionId });
    if (script.connects) connectTo(params.mcpServers ?? []);
    return {};
  })
  .onNotification("session/cancel", () => state.cancel.abort())
  .onRequest("session/prompt", async ({ params, client }) => {
    tell(params.prompt);
    const place = nextPrompt(params.prompt);
    const notify = (update: object) =>
      client.notify("session/update", { ...session, update: update as v2.SessionUpdate });
    const idle = (more: object) => notify({ sessionUpdate: "state_update", state: "idle", ...more });
    void play(script, place, {
      cancelled: state.cancel.signal,
      isReader: false,
      update: notify,
      request: (method, more) => client.request(method as `_${string}`, { ...session, ...more }),
      permission: (toolCall, options) =>
        client.request("session/request_permission", {
          ...session,
          title: "may I?",
          subject: { type: "tool_call", toolCall: toolCall as v2.ToolCallUpdate },
          options: options as v2.PermissionOption[],
        }) as ReturnType<Parameters<typeof play>[2]["permission"]>,
    }).then(
      (stopReason) => idle({ stopReason, ...(script.usage && { usage: script.usage }) }),
      (thrown: unknown) => idle({ stopReason: "error", error: errorOf(thrown) }),
    );
    return { messageId: "u1" };
  });
