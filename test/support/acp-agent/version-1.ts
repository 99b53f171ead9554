/** The scripted agent in version 1 of the protocol. */
import * as v1 from "@agentclientprotocol/sdk";
import { play } from "./play.ts";
import { errorOf, nextPrompt, script, session, state, tell } from "./state.ts";
import { connectTo } from "./tools.ts";

export const first = v1
  .agent({ name: "scripted" })
  .onRequest("initialize", ({ params }) => {
    state.isReader = params.clientCapabilities?.fs?.readTextFile ?? false;
    return {
      protocolVersion: script.greets === "with version 7" ? 7 : 1,
      authMethods: script.login ? [script.login] : [],
      agentCapabilities: {
        mcpCapabilities: { http: script.connects !== "by program" },
        loadSession: script.loads !== undefined,
      },
    };
  })
  .onRequest("authenticate", () => {
    if (script.loginFails) throw v1.RequestError.internalError({}, script.loginFails);
    state.isLoggedIn = true;
    return {};
  })
  .onRequest("session/new", ({ params }) => {
    if (!state.isLoggedIn) throw v1.RequestError.authRequired();
    tell(params);
    if (script.connects) connectTo(params.mcpServers);
    return session;
  })
  .onRequest("session/load", async ({ params, client }) => {
    if (script.loads === undefined || params.sessionId !== session.sessionId)
      throw v1.RequestError.invalidParams({}, "no such session");
    tell({ loads: params.sessionId });
    const content = { type: "text" as const, text: script.loads };
    await client.notify("session/update", {
      ...session,
      update: { sessionUpdate: "agent_message_chunk", content },
    });
    if (script.connects) connectTo(params.mcpServers);
    return {};
  })
  .onNotification("session/cancel", () => state.cancel.abort())
  .onRequest("session/prompt", async ({ params, client }) => {
    tell(params.prompt);
    const place = nextPrompt(params.prompt);
    const stopReason = await play(script, place, {
      cancelled: state.cancel.signal,
      isReader: state.isReader,
      update: (update) => client.notify("session/update" as string, { ...session, update }),
      request: (method, more) => client.request(method as string, { ...session, ...more }),
      permission: (toolCall, options) =>
        client.request("session/request_permission" as string, { ...session, toolCall, options }),
    }).catch((thrown: unknown) => {
      const { code, message, data } = errorOf(thrown);
      throw new v1.RequestError(code, message, data);
    });
    const bill = { ...(script.usage && { usage: script.usage }), ...(script.meta && { _meta: script.meta }) };
    return { stopReason: stopReason as v1.StopReason, ...bill };
  });
