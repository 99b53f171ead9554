/** Tests a fleet's runs on the command line: made on one machine, seen, steered and resumed on another. */
import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { Database } from "../../src/adapters/fleet/database.ts";
import { makeBarrier, makePlace, type Place } from "../e2e/cli-place.ts";
import { newFolder } from "../support/folders.ts";
import { newDatabase } from "../support/postgres.ts";
import { openRepository } from "../support/repositories.ts";

const LIMIT = { timeout: 240_000 };
const QUICK = ["--gate", "none", "--set", "retry.first=1ms", "--set", "retry.max=1ms", "--json"];

/** Makes a remote and a clone of the place's repository with a state folder of its own, as on another machine. */
async function fleetOf(place: Place) {
  const remote = path.join(place.folder, "remote.git");
  await place.repository.git("clone", "-q", "--bare", place.repository.folder, remote);
  await place.repository.git("remote", "add", "origin", remote);
  const clone = path.join(newFolder(), "clone");
  await place.repository.git("clone", "-q", remote, clone);
  const url = await newDatabase();
  const env = { SKEIN_FLEET_URL: url };
  const other = { SKEIN_FLEET_URL: url, SKEIN_STATE_DIR: path.join(newFolder(), "state") };
  const here = place.with({ env });
  const there = place.with({ folder: clone, env: other });
  assert.equal((await here.skein("fleet", "init")).code, 0);
  const third = place.with({ env: { ...other, SKEIN_STATE_DIR: path.join(newFolder(), "state") } });
  const worker = third.start("worker", "--join", "--capacity", "2", "--agent", place.agent);
  await worker.says("has joined the fleet");
  return { here, there, clone, url };
}

const runIn = (out: string): string => JSON.parse(out.split("\n")[0]!).request.run;

describe("a fleet's run", LIMIT, () => {
  it("is listed, shown and reported from another clone, and nowhere says the address of the database", async () => {
    await using place = await makePlace();
    const { here, there, url } = await fleetOf(place);
    const ran = await here.skein("run", "write two files", "--agent", place.agent, "--fleet", ...QUICK);
    assert.equal(ran.code, 0, ran.err);
    const run = runIn(ran.out);
    const said = [ran];
    for (const args of [
      ["status"],
      ["status", run],
      ["show", run],
      ["logs", run],
      ["report", run],
      ["fleet"],
    ]) {
      const one = await there.skein(...args, "--fleet");
      assert.equal(one.code, 0, `${args.join(" ")}: ${one.err}`);
      said.push(one);
    }
    assert.match(said[1]!.out, new RegExp(`^${run} +done +2/2 `, "m"));
    assert.match(
      (await there.skein("status")).out,
      /There are no runs/,
      "the runs of this machine are apart",
    );
    assert.match(said.at(-1)!.out, /^WORKER +STATE +JOBS +LABELS\n\S+ +ready +0\/2$/m);
    const password = new URL(url).password;
    for (const { out, err } of said) assert.doesNotMatch(out + err, new RegExp(`${password}|postgres://`));
  });

  it("is found without --fleet by the commands that are printed, if the address is set", async () => {
    await using place = await makePlace();
    const { here, there } = await fleetOf(place);
    assert.match((await there.skein("status", "--fleet")).out, /^The fleet has no runs of this repository/);
    const ran = await here.skein("run", "write two files", "--agent", place.agent, "--fleet", ...QUICK);
    const run = runIn(ran.out);
    const deliver = ["deliver", run, "--into-checkout"];
    for (const args of [
      ["status", run],
      ["show", run],
      ["logs", run],
      ["diff", run, run],
      ["resume", run],
      deliver,
    ]) {
      const { code, err } = await here.skein(...args);
      assert.equal(code, 0, `${args.join(" ")}: ${err}`);
    }
    const unknown = await there.skein("show", `${run}x`);
    assert.equal(unknown.code, 2);
    assert.match(
      unknown.err,
      new RegExp(`no run "?${run}x.*\n +in the fleet: there is no run .*did you mean ${run}`),
    );
    assert.match(
      (await there.skein("status")).out,
      /^There are no runs.*\nruns of the fleet: skein status --fleet$/m,
    );
    const without = await place.skein("show", run);
    assert.match(without.err, /there is no run/);
    assert.doesNotMatch(without.err, /fleet/);
  });

  it("is removed with what its jobs left on the remote; what stays there is listed", async () => {
    await using place = await makePlace();
    const { here } = await fleetOf(place);
    const ran = await here.skein("run", "write two files", "--agent", place.agent, "--fleet", ...QUICK);
    const run = runIn(ran.out);
    // A hostile worker may push such refs at any time.
    const names = [`${run}/evil`, "0101-gone/evil"].map((name) => `refs/skein/fleet/${name}`);
    await place.repository.git("push", "-q", "origin", ...names.map((name) => `HEAD:${name}`));
    const removed = await here.skein("remove", run, "--fleet", "--yes", "--undelivered");
    assert.equal(removed.code, 0, removed.err);
    const target = `refs/heads/skein/${run}/target`;
    assert.match(removed.out, /^still on the remote, of this run \(2\):$/m);
    for (const ref of [target, `refs/notes/skein/${run}`, names[1]])
      assert.ok(removed.out.includes(`\n  ${ref}\n`), `${ref} is not in ${removed.out}`);
    const left = await place.repository.git("ls-remote", "origin", "refs/skein/*");
    assert.deepEqual(left.match(/refs\S+/g), [names[1]], "what is another fleet's is not touched");
    assert.match(removed.out, /^to delete one: git push <remote> --delete refs\//m);
  });

  it("hears what is said on another machine, stops, and is continued there without a state folder", async () => {
    const barrier = await makeBarrier(newFolder());
    await using waiting = await makePlace({ work: barrier.wait });
    const { here, there, clone } = await fleetOf(waiting);
    const going = here.start("run", "write two files", "--agent", waiting.agent, "--fleet", ...QUICK);
    await going.says('"job.started"', 2);
    const [{ run }] = JSON.parse((await there.skein("status", "--fleet", "--json")).out).runs;
    const told = await there.skein("steer", run, "write more", "--fleet");
    assert.equal(told.code, 0, told.err);
    assert.match((await there.skein("status", run, "--fleet")).out, /^fleet +1 ready \(/m);
    assert.match((await there.skein("logs", run, "--fleet")).out, /write more/);
    const second = await there.skein("resume", run, "--fleet");
    assert.match(
      second.err,
      new RegExp(`run ${run} is running in process ${going.pid}; nothing was changed`),
    );
    assert.equal((await there.skein("stop", run, "--now", "--fleet")).code, 0);
    assert.notEqual((await going.ended).code, 0);
    await barrier.open();
    const refs = ["refs/heads/skein/", "refs/notes/", "refs/skein/"].map((all) => `+${all}*:${all}*`);
    await openRepository(clone).git("fetch", "-q", waiting.repository.folder, ...refs);
    rmSync(waiting.state, { recursive: true });
    const resumed = await there.skein("resume", run, "--fleet", "--json");
    assert.equal(resumed.code, 0, resumed.err);
    assert.match((await there.skein("status", run, "--fleet")).out, /\d of \d done/);
    assert.ok(!existsSync(waiting.state), "nothing is kept where it began");
  });

  it("has machines that are listed, unless they left long ago, and a password of which init says what it did", async () => {
    await using place = await makePlace();
    const url = await newDatabase();
    const fleet = async (more = {}, ...args: readonly string[]) =>
      (await place.with({ env: { SKEIN_FLEET_URL: url, ...more } }).skein("fleet", ...args)).out;
    await fleet({}, "init");
    assert.match(await fleet({}, "init"), /^The workers' password is as it was\. Lost it\?/m);
    const given = { SKEIN_FLEET_WORKER_PASSWORD: "brought along" };
    assert.match(await fleet(given, "init"), /^The workers' password was changed: restart workers/m);
    assert.match(await fleet(), /^No worker is in the fleet now/);
    await using database = new Database({ url, schema: "skein" });
    for (const [name, state, minutes] of [
      ["build-1", "ready", 0],
      ["build-2", "ready", 90],
      ["build-3", "gone", 50],
      ["build-4", "gone", 70],
    ])
      await database.ask(
        `INSERT INTO $S.worker (name, labels, capacity, version, state, seen_at)
         VALUES ($1, '{gpu}', 2, '1', $2, now() - $3 * interval '1 minute')`,
        [name, state, minutes],
      );
    const rows = (await fleet()).trimEnd().split("\n").slice(1);
    assert.deepEqual(
      rows.map((row) => row.split(/ {2,}/)),
      [
        ["build-1", "ready", "0/2", "gpu"],
        ["build-2", "silent for 1 h 30 min", "0/2", "gpu"],
        ["build-3", "gone, 50 min ago", "0/2", "gpu"],
      ],
    );
  });

  it("gives a machine an address of its own, which it joins with under its name, and shuts it out", async () => {
    await using place = await makePlace();
    const url = await newDatabase();
    const here = place.with({ env: { SKEIN_FLEET_URL: url } });
    await here.skein("fleet", "init");
    const invited = await here.skein("fleet", "invite", "build-3", "--expires", "3d");
    assert.equal(invited.code, 0, invited.err);
    const [address] = /^postgres:.*$/m.exec(invited.out) ?? [];
    assert.match(address ?? "", /skein_worker_build-3_[0-9a-f]{8}:/);
    assert.match((await here.skein("fleet")).out, /^build-3: invited for [23] days more$/m);
    const own = { SKEIN_FLEET_URL: address!, SKEIN_STATE_DIR: path.join(newFolder(), "state") };
    const worker = place.with({ env: own }).start("worker", "--join", "--agent", place.agent);
    await worker.says("Worker build-3 has joined the fleet");
    const revoked = await here.skein("fleet", "revoke", "build-3");
    assert.match(revoked.out, /^build-3 is shut out of the fleet; \d sessions? of it ended/m);
    worker.kill("SIGTERM");
    await worker.ended;
    assert.match((await here.skein("fleet", "revoke", "build-3")).err, /no machine build-3 was invited/);
    for (const args of [
      ["revoke"],
      ["revoke", "x", "--shared"],
      ["invite", "x y"],
      ["invite", "x", "--expires", "y"],
    ])
      assert.equal((await here.skein("fleet", ...args)).code, 2, args.join(" "));
    assert.match(
      (await here.skein("fleet", "revoke", "--shared")).out,
      /^The role that machines share is shut out/m,
    );
    await place
      .with({ env: { SKEIN_FLEET_URL: url, SKEIN_FLEET_WORKER_PASSWORD: "brought along" } })
      .skein("fleet", "init");
  });

  it("is made where skein.yaml has it enabled already", async () => {
    await using place = await makePlace({
      files: { "skein.yaml": "fleet:\n  enabled: true\n" },
      isTrusted: true,
    });
    const here = place.with({ env: { SKEIN_FLEET_URL: await newDatabase() } });
    const made = await here.skein("fleet", "init");
    assert.equal(made.code, 0, made.err);
    assert.match((await here.skein("fleet")).out, /^No worker is in the fleet now/);
  });

  it("needs an address, tables and a remote, and says which of them is missing", async () => {
    await using place = await makePlace();
    const fleet = (env: Readonly<Record<string, string>>) => place.with({ env }).skein("status", "--fleet");
    assert.match((await fleet({})).err, /no address of the fleet's Postgres.*\n.*set SKEIN_FLEET_URL/);
    assert.match((await fleet({ SKEIN_FLEET_URL: "mysql://x" })).err, /SKEIN_FLEET_URL is no address/);
    const url = await newDatabase();
    assert.match((await fleet({ SKEIN_FLEET_URL: url })).err, /has no fleet yet.*\n.*skein fleet init/);
    await place.with({ env: { SKEIN_FLEET_URL: url } }).skein("fleet", "init");
    const without = await fleet({ SKEIN_FLEET_URL: url });
    assert.equal(without.code, 3);
    assert.match(without.err, /there is no git remote origin.*\n.*fleet\.remote/);
  });
});
