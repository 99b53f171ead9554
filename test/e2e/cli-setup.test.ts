/** Tests messages, exit codes and resume when workspaces cannot be set up. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { good, LIMIT, makePlace as makeLibraryPlace } from "../support/orchestrators.ts";
import { agree, makePlace, type Place } from "./cli-place.ts";

const BROKEN = "workspace:\n  setup: echo no such mirror >&2; echo gave up >&2; exit 7\n";
const GATE = "test -f README.md";
const runName = (out: string) => /^run +(\S+)$/m.exec(out)?.[1] ?? "none";

async function configured(place: Place, text: string): Promise<void> {
  await writeFile(path.join(place.repository.folder, "skein.yaml"), text);
  await agree(place);
}

const jobsStarted = async (place: Place, run: string): Promise<readonly string[]> => {
  const { out } = await place.skein("logs", run, "--json");
  const events = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return events.flatMap(({ type, job }) => (type === "job.started" ? [job.kind] : []));
};

describe("a set-up command that fails", () => {
  it(
    "stops the run with 3 before anything is planned or spent, and resume goes on once it is mended",
    LIMIT,
    async () => {
      await using place = await makePlace({ work: 'touch "$HOME/worked"' });
      await configured(place, BROKEN);
      const ran = await place.skein("run", "write two", "--agent", place.agent, "--gate", GATE);
      assert.equal(ran.code, 3, ran.out + ran.err);
      assert.match(
        ran.err,
        /^skein: the set-up command workspace\.setup \(echo .*\) ended with 7 in \S+: no such mirror \(0 of 1 task done, the rest is kept\)\n {2}gave up\ntry: .*workspace\.setup in skein\.yaml, then skein resume \S+\n$/,
      );
      const run = runName(ran.out);
      assert.deepEqual(await jobsStarted(place, run), ["check"]);
      assert.ok(!existsSync(path.join(place.folder, "home", "worked")));

      const { out } = await place.skein("status", run);
      assert.match(out, /^run +\S+, stopped$/m);
      assert.match(out, /^setup +the set-up command .*\n +gave up\ntry +run it in a fresh clone/m);
      assert.match(
        (await place.skein("show", run)).out,
        /^the set-up command workspace\.setup .*\ngave up\n/m,
      );
      for (const verb of ["status", "show"]) {
        const { setup } = JSON.parse((await place.skein(verb, run, "--json")).out);
        assert.equal(setup.kind, "setup");
        assert.match(setup.message, /no such mirror\ngave up$/);
        assert.match(setup.next, /skein\.yaml/);
      }

      const again = await place.skein("resume", run, "--json");
      assert.equal(again.code, 3, again.out + again.err);
      const { error } = JSON.parse(again.err);
      assert.deepEqual([error.kind, error.exitCode], ["setup", 3]);
      assert.match(error.next, new RegExp(`skein resume ${run}$`));

      await configured(place, "workspace:\n  setup: ls\n");
      const mended = await place.skein("resume", run);
      assert.equal(mended.code, 0, mended.out + mended.err);
      assert.match(mended.out, /^workspace\.setup is taken from skein\.yaml:2$/m);
      assert.match(mended.out, / Retrying the set-up$/m);
    },
  );

  it("is told with its reason also where a tool prints all its options after it", LIMIT, async () => {
    await using place = await makePlace();
    const install = `i=0; { echo npm error code EUSAGE; echo "npm error Missing: is-odd@3.0.1 from lock file"
while [ $i -lt 300 ]; do i=$((i+1)); echo "npm error   --option-$i: what it does"; done; } >&2; exit 1`;
    const ran = await place.skein("run", "x", "--agent", place.agent, "--set", `workspace.setup=${install}`);
    assert.equal(ran.code, 3, ran.out + ran.err);
    assert.match(ran.err, /^ +npm error Missing: is-odd@3\.0\.1 from lock file$/m);
    assert.doesNotMatch(ran.err, /--option-99/, "and not with all of them");
  });

  it("is met by a worker where there is no gate, and stops the run as well", LIMIT, async () => {
    await using place = await makePlace();
    await configured(place, BROKEN);
    const args = ["--agent", place.agent, "--gate", "none", "--planner", "none"];
    const ran = await place.skein("run", "write one", ...args);
    assert.equal(ran.code, 3, ran.out + ran.err);
    const run = runName(ran.out);
    assert.deepEqual(await jobsStarted(place, run), ["check", "plan", "work"]);
    assert.doesNotMatch(ran.out, /attempt 1: /, "no attempt is counted");
    const mended = await place.skein("resume", run, "--set", "workspace.setup=true");
    assert.equal(mended.code, 0, mended.out + mended.err);
  });

  it("ends a run in a program, too, and says why", LIMIT, async () => {
    await using place = await makeLibraryPlace();
    await using skein = place.open({ config: { gate: [GATE], workspace: { setup: "exit 9" } } });
    const run = good(await skein.run({ goal: "write both" }));
    const end = await run.ended;
    assert.ok(end.is === "stopped");
    assert.equal(end.failure?.kind, "setup");
    assert.equal(run.view().setup?.message, end.failure?.message);
  });
});

describe("whether the gate was probed", () => {
  it(
    "is said once in the run, in its report and status, and in the proof of what landed",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const ran = await place.skein("run", "write two", "--agent", place.agent, "--gate", GATE);
      assert.equal(ran.code, 0, ran.out + ran.err);
      const run = runName(ran.out);
      const told = /the gate (was not probed|fails without your sources)/gi;
      assert.ok([1, 2].includes(ran.out.match(told)?.length ?? 0), ran.out);
      assert.match((await place.skein("status", run)).out, /^gate +\S/m);
      const { probed } = JSON.parse((await place.skein("status", run, "--json")).out);
      assert.ok(["proved", "not-probed"].includes(probed.is));
      const note = await place.repository.git("notes", `--ref=skein/${run}`, "show", `skein/${run}/target`);
      assert.match(JSON.parse(note).probe, /^(?:proved|not probed: .+)$/);

      const off = await place.skein(
        "run",
        "again",
        "--agent",
        place.agent,
        "--gate",
        GATE,
        "--set",
        "gateProbe=off",
      );
      assert.equal(off.code, 0, off.out + off.err);
      assert.doesNotMatch(off.out, told);
      const other = runName(off.out);
      const bare = await place.repository.git(
        "notes",
        `--ref=skein/${other}`,
        "show",
        `skein/${other}/target`,
      );
      assert.equal(JSON.parse(bare).probe, "off");
    },
  );
});
