/** Does `skein serve` listen where it may, under the names that it was given, and nowhere in the clear? */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import path from "node:path";
import { it } from "node:test";
import { ROOT } from "../../tools/source-files.ts";
import { makePlace, type Place } from "../e2e/cli-place.ts";
import { makeCertificate } from "../support/certificate.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { projectAt } from "./place.ts";

/** The address that it prints; its process ends with the test. */
async function start(place: Place, ...args: readonly string[]) {
  const child = spawn(path.join(ROOT, "bin/skein"), ["serve", "--json", ...args], {
    cwd: place.repository.folder,
    env: { ...plainEnvironment(), SKEIN_STATE_DIR: place.state, HOME: place.folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { address, port } = JSON.parse(line.toString("utf8")) as { address: string; port: number };
  return {
    address,
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

type Call = { readonly host: string; readonly port: number; readonly path: string; readonly name: string };

function ask({ host, port, path: target, name }: Call, ca?: string) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; cookie: string }>();
  const options = {
    host,
    port,
    path: target,
    headers: { Host: name },
    ...(ca && { ca, servername: "skein.test" }),
  };
  const call = (ca === undefined ? plainRequest : tlsRequest)(options, (response) => {
    response.resume();
    resolve({ status: response.statusCode ?? 0, cookie: String(response.headers["set-cookie"]) });
  });
  call.once("error", reject);
  call.end();
  return promise;
}

it("refuses another address than this machine's own without TLS or a proxy, and half a pair of files", async () => {
  await using place = await makePlace();
  for (const [args, words] of [
    [["--host", "0.0.0.0"], /would send everything readable over the network/],
    [["--tls-cert", "cert.pem"], /belong together/],
    [["--tls-cert", "missing.pem", "--tls-key", "missing.pem"], /missing\.pem/],
    [["--port", "x"], /is not a port/],
  ] as const) {
    const { code, err } = await place.skein("serve", ...args);
    assert.equal(code, 2, err);
    assert.match(err, words);
  }
});

it("says so at once if it cannot write down whom it lets in", async () => {
  await using place = await makePlace();
  const env = { ...plainEnvironment(), SKEIN_STATE_DIR: place.state };
  const { stateFolder } = await projectAt(place.repository.folder, env);
  await mkdir(path.join(stateFolder, "devices.json.new"), { recursive: true }); // In its place: root cannot write it, either.
  const { code, err } = await place.skein("serve");
  assert.equal(code, 3, err);
  assert.match(err, /browsers that are let in cannot be kept: .*try: make the state folder writable/s);
});

it("is called by the names in its certificate, and by no others", async () => {
  await using place = await makePlace();
  const { cert, key } = makeCertificate(["skein.test", "127.0.0.2"]);
  const files = { cert: path.join(place.folder, "cert.pem"), key: path.join(place.folder, "key.pem") };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key);
  // No loopback address as far as it knows, and yet none that anybody else could reach.
  await using served = await start(
    place,
    "--host",
    "127.0.0.2",
    "--tls-cert",
    files.cert,
    "--tls-key",
    files.key,
  );
  const { port } = served;
  const entry = new URL(served.address);
  assert.equal(entry.origin, `https://skein.test:${port}`);
  const target = `/${entry.search}`;
  const entered = await ask({ host: "127.0.0.2", port, path: target, name: `skein.test:${port}` }, cert);
  assert.equal(entered.status, 302);
  assert.match(entered.cookie, /Secure/);
  const by = async (name: string) =>
    (await ask({ host: "127.0.0.2", port, path: target, name }, cert)).status;
  assert.equal(await by(`127.0.0.2:${port}`), 302);
  assert.equal(await by(`evil.example:${port}`), 403);
});

it("is called by its proxy's name behind one", async () => {
  await using place = await makePlace();
  await using served = await start(place, "--behind-proxy", "skein.test");
  const { port } = served;
  const entry = new URL(served.address);
  assert.equal(entry.origin, "https://skein.test");
  const call = { host: "127.0.0.1", port, path: `/${entry.search}` };
  const entered = await ask({ ...call, name: "skein.test" });
  assert.equal(entered.status, 302);
  assert.match(entered.cookie, /Secure/);
  assert.equal((await ask({ ...call, name: "evil.example" })).status, 403);
});
