/** Tests that the search for local model servers ends quietly when it is stopped. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { localServers } from "./local-servers.ts";

/** A server that takes connections and never answers. */
async function silentServer(): Promise<{ readonly server: Server; readonly local: string }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, local: `http://127.0.0.1:${(server.address() as { port: number }).port}/v1` };
}

it("finds nothing, and throws nothing later, where it was stopped before or is stopped while it asks", async () => {
  const { server, local } = await silentServer();
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown) => uncaught.push(error);
  process.on("uncaughtException", onUncaught);
  try {
    assert.deepEqual(await localServers([{ name: "x", local }], {}, AbortSignal.abort()), []);
    const stop = new AbortController();
    server.once("connection", () => stop.abort());
    assert.deepEqual(await localServers([{ name: "x", local }], {}, stop.signal), []);
    for (let i = 0; i < 10; i += 1) await turn(); // The client reports the abort a little later.
    assert.deepEqual(uncaught, []);
  } finally {
    process.off("uncaughtException", onUncaught);
    server.close();
  }
});
