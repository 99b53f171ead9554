/** Tests that `skein status` and `skein show` list the machines of a fleet and the tasks of each. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import type { TaskId } from "../../src/core/task.ts";
import { ROOT } from "../../tools/source-files.ts";
import { makeRun, onFleet, planned, specOf } from "../web/place.ts";

test("machines are in the status and beside their tasks, as long as the run is under way", async () => {
  await using run = await makeRun();
  const skein = async (...args: readonly string[]) => {
    const env = { ...process.env, SKEIN_STATE_DIR: run.stateDir };
    const command = [path.join(ROOT, "bin/skein"), ...args, "--repo", run.repository.folder];
    return (await promisify(execFile)(process.execPath, command, { env })).stdout;
  };
  const T = (n: number) => `t.${n}` as TaskId;
  const tasks = ["words", "greet"].map((key, i) => ({ id: T(i + 1), spec: specOf(key, `Write ${key}`) }));
  await run.append(planned("t" as TaskId, tasks), onFleet.offered(1), onFleet.offered(2));
  assert.match(await skein("status", "1118-made"), /^fleet {3}no machine is in the fleet now: jobs wait/m);
  await run.append(onFleet.machine("build-1", "ready", ["gpu"]), onFleet.machine("build-3", "silent"));
  await run.append(onFleet.taken(1, "build-1"));
  const status = await skein("status", "1118-made");
  assert.match(status, /^fleet {3}1 ready \(1 of 2 slots busy with this run\), 1 silent: build-3$/m);
  assert.match(status, /^Running now\n.* words on build-1\n +greet, waiting for a machine$/m);
  const show = await skein("show", "1118-made");
  assert.match(show, /words {2}t\.1 +working on build-1 [\s\S]*greet {2}t\.2 +waiting for a machine /);
  assert.match(await skein("show", "1118-made", "words"), /^words {2}t\.1 {2}working on build-1$/m);
  const { machines, running } = JSON.parse(await skein("status", "1118-made", "--json"));
  assert.deepEqual(machines, [
    { name: "build-1", state: "ready", capacity: 2, labels: ["gpu"], jobs: ["work:t.1#1"] },
    { name: "build-3", state: "silent", capacity: 2, labels: [], jobs: [] },
  ]);
  assert.deepEqual(
    running.map(({ machine, isUntaken }: Record<string, unknown>) => [machine, isUntaken]),
    [
      ["build-1", undefined],
      [undefined, true],
    ],
  );
  await run.append({ type: "run.closed", how: "cancelled", left: [] });
  assert.doesNotMatch(await skein("status", "1118-made"), /^fleet/m);
  assert.ok(!("machines" in JSON.parse(await skein("status", "1118-made", "--json"))));
});
