import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { it } from "node:test";
import { nobodyListens } from "./nobody-there.ts";

const never = new AbortController().signal;

async function listening(): Promise<Server & AsyncDisposable> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
const placeOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

it("knows a server that is there from one that is gone", async () => {
  const server = await listening();
  const place = placeOf(server);
  assert.equal(await nobodyListens(place, never), false);
  server.close();
  await once(server, "close");
  assert.equal(await nobodyListens(place, never), true);
});

it("says nothing of other machines, of what is no address, and of who takes long", async () => {
  for (const place of ["http://192.0.2.1:1/v1", "not an address", ""])
    assert.equal(await nobodyListens(place, never), false);
  assert.equal(await nobodyListens("http://127.0.0.1:1/v1", AbortSignal.abort()), false);
});
