/** Tests `skein doctor --gate`: it really runs the gate and its probe once, and leaves nothing behind. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { trialFrom } from "../../src/app/inspect/trial.ts";
import { failure } from "../../src/core/failure.ts";
import { firstLine, makePipe } from "../support/pipes.ts";
import { makeBarrier, makePlace, type Place } from "./cli-place.ts";

const LIMIT = { timeout: 60_000 };
/** For gates that read pipes or files of the test, which the sandbox hides. */
const OUTSIDE = ["--set", "gateSandbox=off"];

/** No folder and no ref of a trial is left. */
async function assertTidy({ state, repository }: Place): Promise<void> {
  assert.equal(await repository.git("for-each-ref", "refs/skein"), "");
  const places = existsSync(state) ? await readdir(state) : [];
  for (const place of places)
    assert.deepEqual(
      (await readdir(path.join(state, place))).filter((name) => name.startsWith("doctor-")),
      [],
    );
}

describe("skein doctor --gate", () => {
  it("runs the gate in a fresh workspace: green, red, or not to be run", LIMIT, async () => {
    await using place = await makePlace({
      files: {
        "check.sh": 'test ! -e ignored.txt && test "$(cat sum.txt)" = 2\n',
        "sum.txt": "2\n",
        ".gitignore": "ignored.txt\n",
      },
    });
    await place.repository.write({ "ignored.txt": "" });
    const doctor = (...args: readonly string[]) =>
      place.skein("doctor", "--agent", place.agent, "--gate", ...args);
    const green = await doctor("--gate", "sh check.sh");
    assert.equal(green.code, 0, green.out + green.err);
    assert.match(
      green.out,
      /^Running the gate in a fresh workspace of [0-9a-f]{10} \(configured: sh check\.sh\) …$/m,
    );
    assert.match(green.out, /^ok {4}gate, run +passes after \d+\.\d s: 1 command$/m);
    const steps = [...green.out.matchAll(/^ {2}\d\d:\d\d:\d\d {2}(.*)$/gm)].map(([, doing]) => doing);
    assert.deepEqual(steps, [
      "running sh check.sh",
      "running it without your sources, to see whether it fails then",
    ]);
    assert.match(green.out, /^(?:ok {4}|warn {2})probe /m);
    await assertTidy(place);

    const red = await doctor("--gate", "sh check.sh && false");
    assert.equal(red.code, 1, red.out);
    assert.match(red.out, /^bad {3}gate, run +fails after \d+\.\d s\n +\$ sh check\.sh && false$/m);
    assert.match(
      red.out,
      /^ +What fails: sh check\.sh && false\n +Kind of failure: no test is known to have run, so that no change can be judged$/m,
    );

    const missing = await doctor("--gate", "no-such-runner --all");
    assert.equal(missing.code, 3, missing.out);
    assert.match(
      missing.out,
      /^bad {3}gate, run +the gate's command "no-such-runner --all" cannot be run in a fresh/m,
    );
    assert.match(
      missing.out,
      /no-such-runner: not found\n +try: install it where Skein runs, .*\n +gate:\n +- </,
    );
    const { canRun, findings } = JSON.parse((await doctor("--gate", "no-such-runner", "--json")).out);
    assert.equal(canRun, false);
    assert.equal(findings.at(-1).name, "gate, run");

    const setup = await doctor("--gate", "true", "--set", "workspace.setup=echo oh no; exit 3");
    assert.equal(setup.code, 3, setup.out);
    assert.match(setup.out, /^ {2}[\d:]{8} {2}running workspace\.setup$/m);
    assert.match(setup.out, /^bad {3}gate, run .*the set-up command.*ended with 3.*: oh no$/ms);
    await assertTidy(place);
  });

  it("is a setting with a command alone, and runs nothing", LIMIT, async () => {
    await using place = await makePlace();
    const { code, out } = await place.skein("doctor", "--agent", place.agent, "--gate", "touch x; false");
    assert.equal(code, 0, out);
    assert.doesNotMatch(out, /gate, run/);
    assert.equal(existsSync(place.state), false);
  });

  it("says where there is nothing to run", LIMIT, async () => {
    await using place = await makePlace();
    const none = await place.skein("doctor", "--agent", place.agent, "--gate");
    assert.equal(none.code, 0, none.out);
    assert.match(none.out, /^warn {2}gate, run +not run: there is no gate$/m);
    const yet = await place.skein("doctor", "--agent", place.agent, "--gate", "--gate", "./run-tests.sh");
    assert.equal(yet.code, 0, yet.out);
    assert.match(
      yet.out,
      /^warn {2}gate, run +passes after .*, but has nothing to run yet: \.\/run-tests\.sh$/m,
    );
  });

  it("is stopped by a signal, and tidies up", LIMIT, async () => {
    await using place = await makePlace();
    const barrier = await makeBarrier(place.folder);
    const started = makePipe(place.folder, "started");
    const gate = `echo > '${started}'; ${barrier.wait}`;
    const live = place.start("doctor", "--agent", place.agent, "--gate", "--gate", gate, ...OUTSIDE);
    await firstLine(started, live.ended);
    live.kill("SIGINT");
    const { code, out } = await live.ended;
    assert.equal(code, 130, out);
    assert.match(
      out,
      /^warn {2}gate, run +stopped while running .*started.* \(for \d+ s\); its workspace was removed$/m,
    );
    await assertTidy(place);
  });

  it("is not needed for what a look shows: skein run says it at its start", LIMIT, async () => {
    const files = { "package.json": "{}", "package-lock.json": "{}" };
    await using place = await makePlace({ files, work: "echo a > a.txt" });
    const run = ["run", "Do it", "--agent", place.agent, "--planner", "none"];
    const { out } = await place.skein(...run, "--gate", "test -e package.json");
    assert.match(
      out,
      /^notice: found package-lock\.json, but workspaces are not set up\. .*\. Try: workspace\.setup: npm ci, in skein\.yaml/m,
    );
    const set = await place.skein(...run, "--gate", "test -e package.json", "--set", "workspace.setup=true");
    assert.doesNotMatch(set.out, /^notice: found package-lock/m);
  });

  it("says that a gate which stays green without the sources proves nothing", () => {
    const run = {
      report: { commands: [{ name: "test", green: true, failures: [] }] },
      problems: [],
      tail: "",
    };
    const unproven = {
      is: "unproven",
      failure: failure("setup", "your tests pass without your code", "uv run"),
    } as const;
    const { is, findings } = trialFrom({ run, tookMs: 1_234, probed: unproven });
    assert.equal(is, "unusable");
    assert.deepEqual(
      findings.map(({ name, level, text }) => `${level} ${name}: ${text}`),
      ["ok gate, run: passes after 1.2 s: 1 command", "bad probe: your tests pass without your code"],
    );
    assert.equal(trialFrom({ run, tookMs: 1, probed: { is: "proved" } }).is, "passed");
  });
});
