/** Tests that `skein doctor --worker` finds what keeps a machine from working for a fleet. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { it } from "node:test";
import { Database } from "../../src/adapters/fleet/database.ts";
import { makePlace } from "../e2e/cli-place.ts";
import { newDatabase } from "../support/postgres.ts";

type Finding = { readonly name: string; readonly level: string; readonly text: string };

it("says of database, role, remote, agent, git, sandbox and disk whether they would do", {
  timeout: 60_000,
}, async () => {
  await using place = await makePlace();
  const remote = path.join(place.folder, "remote.git");
  await place.repository.git("clone", "-q", "--bare", place.repository.folder, remote);
  const owner = await newDatabase();
  const look = async (url: string | undefined, ...args: readonly string[]) => {
    const env = { SKEIN_FLEET_URL: url };
    const { out, code, err } = await place.with({ env }).skein("doctor", "--worker", "--json", ...args);
    assert.notEqual(out, "", err);
    const { findings } = JSON.parse(out) as { readonly findings: readonly Finding[] };
    return { code, of: (name: string) => findings.find((one) => one.name === name)!, findings };
  };
  const bare = await look(undefined);
  assert.equal(bare.code, 1);
  assert.match(bare.of("database").text, /no address of the fleet's Postgres/);
  assert.match((await look(owner)).of("database").text, /has no fleet yet/);
  assert.equal(
    (await place.with({ env: { SKEIN_FLEET_URL: owner } }).skein("fleet", "init", "--repo", ".")).code,
    0,
  );
  const named = ["--set", `fleet.remote=${remote}`, "--agent", place.agent];
  const asOwner = await look(owner, ...named);
  assert.equal(asOwner.of("database").level, "warn");
  assert.match(asOwner.of("database").text, /may read all runs/);
  const worker = new URL(owner);
  worker.username = "skein_worker";
  const asWorker = await look(worker.href, ...named);
  assert.deepEqual(
    asWorker.findings.map(({ name }) => name),
    ["database", "remote", "agent", "git", "sandbox", "disk"],
  );
  assert.equal(asWorker.code, 0, JSON.stringify(asWorker.findings));
  assert.equal(asWorker.of("database").level, "ok");
  assert.equal(asWorker.of("remote").text, "fetched from and pushed to");
  assert.equal(await place.repository.git("ls-remote", remote, "refs/skein/*"), "", "nothing is left there");
  const away = await look(worker.href, "--set", `fleet.remote=${remote}.away`, "--agent", "no-such-program");
  assert.equal(away.of("remote").level, "bad");
  assert.equal(away.of("agent").level, "bad");
});

it("says of a fleet's database, remote and machines whether a run could start", {
  timeout: 60_000,
}, async () => {
  await using place = await makePlace();
  const url = await newDatabase();
  const look = async (address: string) => {
    const here = place.with({ env: { SKEIN_FLEET_URL: address } });
    return here.skein("doctor", "--fleet", "--agent", place.agent);
  };
  const says = (out: string, ...lines: readonly RegExp[]) => {
    for (const line of lines) assert.match(out, line);
  };
  const away = await look(url.replace(/:\d+\//, ":1/"));
  assert.equal(away.code, 1);
  says(
    away.out,
    /^bad +database +the fleet's Postgres cannot be reached/m,
    /^bad +remote +there is no such/m,
  );
  says(away.out, /^No run could start: 2 problems/m);
  const remote = path.join(place.folder, "remote.git");
  await place.repository.git("clone", "-q", "--bare", place.repository.folder, remote);
  await place.repository.git("remote", "add", "origin", remote);
  const env = { SKEIN_FLEET_URL: url };
  await place.with({ env }).skein("fleet", "init");
  const alone = await look(url);
  says(
    alone.out,
    /^ok +database +reached as postgres/m,
    /^ok +remote /m,
    /^warn +machines +none has joined/m,
  );
  assert.equal(alone.code, 0);
  const asJson = await place.with({ env }).skein("doctor", "--fleet", "--json", "--agent", place.agent);
  const { findings } = JSON.parse(asJson.out) as { readonly findings: readonly Finding[] };
  const roles = findings.filter(({ name }) => name === "workers' role");
  assert.match(
    JSON.stringify(roles),
    /"level":"warn".*REVOKE CONNECT, TEMPORARY ON DATABASE postgres FROM PUBLIC;/,
  );
  assert.doesNotMatch(
    JSON.stringify(roles),
    /CONNECTION LIMIT|GRANT|lo_/,
    "what the owner may close is closed",
  );
  const worker = new URL(url);
  worker.username = "skein_worker";
  says((await look(worker.href)).out, /^bad +database +reached as skein_worker, which can only work/m);
  await using database = new Database({ url, schema: "skein" });
  for (const name of ["build-1", "build-2"])
    await database.ask("SELECT $S.worker_join($1, gen_random_uuid(), '{}', 2, '1')", [name]);
  says((await look(url)).out, /^ok +machines +2 ready, 4 slots$/m);
  assert.doesNotMatch((await place.with({ env }).skein("doctor")).out, /machines/);
});

it("ends without a word of Node when it is interrupted", { timeout: 60_000 }, async () => {
  await using place = await makePlace();
  const postgres = createServer().listen(0, "127.0.0.1");
  await once(postgres, "listening");
  const { port } = postgres.address() as { readonly port: number };
  const env = { SKEIN_FLEET_URL: `postgres://127.0.0.1:${port}/x` };
  const doctor = place.with({ env }).start("doctor", "--worker");
  postgres.on("connection", (socket) => {
    doctor.kill("SIGINT");
    socket.on("error", () => {}).end(); // Ends only this connection: the server stays up.
  });
  const { code, err } = await doctor.ended;
  postgres.close();
  assert.equal(code, 130, err);
  assert.doesNotMatch(err, /node:internal|Error:/);
});
