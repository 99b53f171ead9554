/** Tests the list of gate runs, and the names of their outputs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import type { Event } from "../log/event.ts";
import type { TaskId } from "../task.ts";
import { gateRunLabel, gateRunsOf, gateRunsOfTask } from "./gate-runs.ts";
import { nothingSeen, see } from "./view.ts";

const A = "t.1" as TaskId;

/** The events with these gate runs in each landing. */
const seenWith = (run: CoreRun, gates: Extract<Event, { type: "job.ended" }>["gates"]) =>
  run.log
    .map((event) =>
      event.type === "job.ended" && event.job.startsWith("land") && gates ? { ...event, gates } : event,
    )
    .reduce(see, nothingSeen());

test("has each run of the gate with its tasks, its end and the name of its output", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.work(A);
  run.landRed();
  const gates = [
    { output: "land#1", ms: 900, green: false },
    { output: "land#1.2", ms: 700, green: false },
  ];
  const seen = seenWith(run, gates);
  const [first, second] = gateRunsOf(seen).filter(({ job }) => job === "land#1");
  assert.deepEqual(
    [first?.output, first?.ms, first?.green, second?.output],
    ["land#1", 900, false, "land#1.2"],
  );
  assert.deepEqual(first?.members, [{ task: A, attempt: 1, name: "a" }]);
  assert.ok(gateRunsOf(seen).some(({ of }) => of === "check"));
  assert.ok(gateRunsOfTask(seen, A).every(({ of }) => of === "landing"));
  assert.equal(gateRunsOfTask(seen, "t.2" as TaskId).length, 0);
  assert.equal(gateRunsOfTask(seen, A, 2).length, 0);
});

test("of a probe, the output has its own name, and its line says what it was", () => {
  const run = CoreRun.green({ baseFirstMs: 60_000, probe: true });
  run.answer("check#2", { is: "probed", probed: { is: "proved" } });
  const probe = gateRunsOf(seenWith(run, undefined)).find(({ job }) => job === "check#2")!;
  assert.deepEqual([probe.of, probe.output], ["probe", "check#2.probe"]);
  assert.match(gateRunLabel(probe), /ended: the gate itself \(probe\), check#2$/);
});

test("of a run of an older Skein, a job's last output has the job's name", () => {
  const run = CoreRun.planned([task("a")]);
  run.work(A);
  const before = gateRunsOf(seenWith(run, undefined)).find(({ job }) => job === "land#1");
  assert.deepEqual([before?.output, before?.isRunning, before?.green], ["land#1", true, undefined]);
  run.land();
  const after = gateRunsOf(seenWith(run, undefined)).find(({ job }) => job === "land#1");
  assert.deepEqual([after?.output, after?.isRunning, after?.ms], ["land#1", undefined, undefined]);
});
