/** Tests that `skein serve` listens only where it may, under its given names, and unencrypted only on loopback. */
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

/** Starts the server and gives the address that it prints; the process ends with the test. */
async function start(place: Place, ...args: readonly string[]) {
  const child = spawn(path.join(ROOT, "bin/skein"), ["serve", "--json", ...args], {
    cwd: place.repository.folder,
    env: { ...plainEnvironment(), SKEIN_STATE_DIR: place.state, HOME: place.folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = async () => {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    return JSON.parse(line.toString("utf8")) as { address: string; port: number };
  };
  return {
    ...(await said()),
    said,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

type Call = {
  readonly host: string;
  readonly port: number;
  readonly name: string;
  readonly address: string;
};

/** The HTTP status of signing in with a link, at a server that is called by `name`. */
function signIn({ host, port, name, address }: Call, ca?: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const link = new URL(address).hash.replace("#sign-in=", "");
  const options = {
    ...{ host, port, method: "POST", path: "/api/devices" },
    headers: { Host: name, Authorization: `Bearer ${link}` },
    ...(ca && { ca, servername: "skein.test" }),
  };
  const call = (ca === undefined ? plainRequest : tlsRequest)(options, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
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
  // A folder in the file's place, which stops root as well.
  await mkdir(path.join(stateFolder, "page-devices.json.new"), { recursive: true });
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
  // Skein does not take this for a loopback address, yet no other machine can reach it.
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
  const { address } = served;
  const by = (name: string, link = address) => signIn({ host: "127.0.0.2", port, name, address: link }, cert);
  assert.equal(await by(`evil.example:${port}`), 403);
  const next = served.said();
  assert.equal(await by(`skein.test:${port}`), 200);
  assert.equal(await by(`127.0.0.2:${port}`), 401, "an address lets in one browser");
  assert.equal(await by(`127.0.0.2:${port}`, (await next).address), 200, "it prints the next one");
});

it("is called by its proxy's name behind one", async () => {
  await using place = await makePlace();
  await using served = await start(place, "--behind-proxy", "skein.test");
  const { port } = served;
  const entry = new URL(served.address);
  assert.equal(entry.origin, "https://skein.test");
  const call = { host: "127.0.0.1", port, address: served.address };
  assert.equal(await signIn({ ...call, name: "evil.example" }), 403);
  assert.equal(await signIn({ ...call, name: "skein.test" }), 200);
});
