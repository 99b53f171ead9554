/** Tests that a flaky test is remembered between runs, counted once, and shown. */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { knownFlaky } from "../../src/app/flaky-history.ts";
import { flakyTestsOf } from "../../src/compose/project.ts";
import type { EventOf } from "../../src/core/log/event.ts";
import { closing, drive, eventsOf, makeSetting, runGoal } from "../support/live-runs.ts";
import { plans, task, writes } from "../support/scripts.ts";
import { makePlace } from "./cli-place.ts";

/** A test that fails the first time that it sees the file, and never again. */
const redOnce = (file: string, mark: string) =>
  `if [ -f ${file} ] && [ ! -e '${mark}' ]; then touch '${mark}'; echo 'not ok 1 - adds'; exit 1; fi`;
const NAME = "test: adds";
/** Without a sandbox, because the test leaves a mark outside of its workspace. */
const gateOf = (run: string) => ({ gate: [{ name: "test", run }], gateSandbox: "off" });
const DONE = { answer: { scratchpad: "", tasks: [], done: true } };

const setting = (...ids: readonly string[]) =>
  makeSetting({
    files: { "README.md": "x\n" },
    script: {
      plans: { t: [...ids.map((id) => plans(task(id))), DONE] },
      work: Object.fromEntries(ids.map((id) => [id, [writes(`${id}.txt`)]])),
    },
  });

describe("a flaky test", () => {
  it("is remembered when it was red and then green on one candidate, and the next run knows it", async () => {
    await using place = await setting("a");
    const { project, folder } = place;
    assert.deepEqual(await knownFlaky(flakyTestsOf(project)), []);
    const config = place.config(gateOf(redOnce("a.txt", path.join(folder, "mark"))));
    const first = await runGoal(place, config);
    assert.equal(closing(first.end), "done");
    const [test] = (await flakyTestsOf(project).list()).tests;
    assert.deepEqual([test?.name, test?.times, test?.lastRun], [NAME, 1, first.home.record.run]);
    assert.deepEqual(await knownFlaky(flakyTestsOf(project)), [NAME]);
    const second = await runGoal(place, config);
    assert.equal(closing(second.end), "done");
    const [opened] = second.events as readonly [EventOf<"run.opened">];
    assert.deepEqual(opened.request.flaky, [NAME]);
    assert.equal((await flakyTestsOf(project).list()).tests[0]?.times, 1, "known is not seen again");
  });

  it("is remembered when the target was red and then green", async () => {
    await using place = await setting("a");
    const config = place.config(gateOf(redOnce("README.md", path.join(place.folder, "mark"))));
    assert.equal(closing((await runGoal(place, config)).end), "done");
    assert.deepEqual(await knownFlaky(flakyTestsOf(place.project)), [NAME]);
  });

  it("is counted once, however often the run is stopped and goes on", async () => {
    await using place = await setting("a", "b", "c");
    const { project, folder } = place;
    const config = place.config(gateOf(redOnce("a.txt", path.join(folder, "mark"))));
    const landed = ({ type }: { readonly type: string }) => type === "batch.landed";
    const { home, end } = await runGoal(place, config, { stopAt: landed });
    assert.equal(end.is, "stopped");
    assert.equal((await drive(place, home, config, { stopAt: landed })).is, "stopped");
    assert.equal(closing(await drive(place, home, config)), "done");
    assert.equal((await eventsOf(home)).filter(landed).length, 3);
    assert.deepEqual(
      (await flakyTestsOf(project).list()).tests.map(({ name, times }) => [name, times]),
      [[NAME, 1]],
    );
  });

  it("does not stop a run where its history cannot be written", async () => {
    await using place = await setting("a");
    for (const name of ["flaky.json", "flaky.json.damaged"])
      await mkdir(path.join(place.project.stateFolder, name, "in the way"), { recursive: true });
    const config = place.config(gateOf(redOnce("a.txt", path.join(place.folder, "mark"))));
    const { end } = await runGoal(place, config);
    assert.equal(closing(end), "done");
    assert.match((await flakyTestsOf(place.project).list()).damage!, /cannot be read/);
  });

  it("is shown with its run, counted by status, and listed with all others", async () => {
    await using place = await makePlace();
    const none = (await place.skein("show", "--flaky")).out;
    assert.match(none, /^No test of this repository has been seen to fail and pass/);
    const gate = JSON.stringify([{ name: "test", run: redOnce("t.1.txt", path.join(place.folder, "mark")) }]);
    const sets = ["--set", `gate=${gate}`, "--set", "gateSandbox=off"];
    const ran = await place.skein("run", "write two files", "--agent", place.agent, ...sets);
    assert.equal(ran.code, 0, ran.err);
    const [, run = ""] = /^run {5}(\S+)$/m.exec(ran.out)!;
    const shown = (await place.skein("show", run)).out;
    assert.match(
      shown,
      /\nFlaky: failed and passed on the same tree\n {2}test: adds: 1 time here, 1 in this repo/,
    );
    const { flaky } = JSON.parse((await place.skein("show", run, "--json")).out);
    assert.deepEqual(flaky, [{ name: NAME, times: 1, timesInRepository: 1 }]);
    assert.match((await place.skein("status")).out, /\n1 flaky test is known here: skein show --flaky\n$/);
    assert.equal(JSON.parse((await place.skein("status", "--json")).out).flaky, 1);
    const listed = (await place.skein("show", "--flaky")).out;
    assert.match(listed, new RegExp(`^TIMES  LAST +IN RUN +FAILED.*\n1 +\\S.* +${run}  test: adds\n$`));
    const { tests } = JSON.parse((await place.skein("show", "--flaky", "--json")).out);
    assert.deepEqual([tests.length, tests[0].name, tests[0].times, tests[0].lastRun], [1, NAME, 1, run]);
    assert.equal((await place.skein("show")).out, shown, "the newest run");
    assert.equal((await place.skein("show", run, "--flaky")).code, 2);
  });
});
