/** Tests that a local model server that does not listen is reported, and nothing else. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { it } from "node:test";
import { reachProblem } from "./providers.ts";

const never = new AbortController().signal;

const isReported = async (baseUrl: string, signal = never): Promise<boolean> =>
  (await reachProblem({ provider: "own", model: "m", baseUrl }, signal)) !== undefined;

async function listening(): Promise<Server & AsyncDisposable> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
const placeOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

it("tells a running server from one that is gone", async () => {
  const server = await listening();
  const place = placeOf(server);
  assert.equal(await isReported(place), false);
  server.close();
  await once(server, "close");
  assert.equal(await isReported(place), true);
});

it("reports nothing for other machines, invalid addresses and slow servers", async () => {
  for (const place of ["http://192.0.2.1:1/v1", "not an address", ""])
    assert.equal(await isReported(place), false);
  assert.equal(await isReported("http://127.0.0.1:1/v1", AbortSignal.abort()), false);
});
