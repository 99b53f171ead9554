/** Tests leases of jobs that a fleet's machines take, and which changes of machines are logged. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import type { JobId } from "../job.ts";
import type { Report } from "../log/event.ts";
import { replay } from "../log/evolve.ts";
import { due } from "./due.ts";

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const JOB = "work:t.1#1" as JobId;
const fleetRun = (offerMs = DAY) => CoreRun.planned([task("a")], { offerMs });
const taken = (machine: string, tries = 0, job = JOB): Report => ({
  ...{ type: "taken", job, machine, tries, agoMs: 0 },
});
const machine = (fields: Partial<Extract<Report, { type: "machine" }>> = {}): Report => ({
  ...{ type: "machine", machine: "m1", state: "ready", capacity: 2, labels: ["gpu"] },
  ...fields,
});

describe("a job that is offered to a fleet", () => {
  test("may wait for a machine as long as the policy says, and then for its lease", () => {
    const run = fleetRun();
    assert.equal(run.state.running.get(JOB)?.isOffered, true);
    run.wait(DAY + HOUR - 1);
    assert.deepEqual(run.running("work"), [JOB]);
    run.wait(1);
    assert.equal(run.events("job.ended").at(-1)?.how, "expired");
  });

  test("has its lease from when a machine took it, however long it waited before", () => {
    const run = fleetRun();
    run.wait(23 * HOUR);
    run.say(taken("m1"));
    assert.equal(run.events("job.taken").at(-1)?.until, 24 * HOUR);
    assert.equal(run.state.running.get(JOB)?.taken?.machine, "m1");
    run.wait(HOUR - 1);
    assert.deepEqual(run.running("work"), [JOB]);
    run.wait(1);
    assert.equal(run.events("job.ended").at(-1)?.how, "expired");
  });

  test("has it again when another machine takes it over", () => {
    const run = fleetRun();
    run.say(taken("m1"));
    run.wait(50 * MINUTE);
    run.say(taken("m2", 1));
    assert.equal(run.state.running.get(JOB)?.taken?.machine, "m2");
    run.wait(30 * MINUTE);
    run.say(taken("m2", 2));
    run.wait(HOUR - 1);
    assert.deepEqual(run.running("work"), [JOB]);
    run.wait(1);
    assert.deepEqual(run.running("work"), []);
  });

  test("has it once for each taking, however often that is told", () => {
    const run = fleetRun();
    run.say(taken("m1"));
    run.wait(50 * MINUTE);
    run.say(taken("m1")); // The same taking, reported to another coordinator.
    assert.equal(run.events("job.taken").length, 1);
    run.wait(10 * MINUTE);
    assert.deepEqual(run.running("work"), []);
  });

  test("has it from when it was taken, if that is told later", () => {
    const run = fleetRun();
    run.wait(30 * MINUTE);
    run.say({ type: "taken", job: JOB, machine: "m1", tries: 0, agoMs: 10 * MINUTE });
    assert.equal(run.state.running.get(JOB)?.until, 20 * MINUTE + HOUR);
    run.say({ type: "taken", job: JOB, machine: "m2", tries: 1, agoMs: DAY });
    assert.equal(run.state.running.get(JOB)?.until, HOUR, "not before it was offered");
  });

  test("waits for a machine as long as at first when the one that had it is gone", () => {
    const run = fleetRun();
    run.say({ type: "returned", job: JOB });
    assert.deepEqual(run.events("job.returned"), [], "no machine had it");
    run.say(taken("m1"));
    run.wait(50 * MINUTE);
    run.say({ type: "returned", job: JOB }, { type: "returned", job: JOB });
    assert.equal(run.events("job.returned").length, 1);
    assert.equal(run.state.running.get(JOB)?.taken, undefined);
    run.wait(DAY + HOUR - 1);
    assert.deepEqual(run.running("work"), [JOB]);
    run.wait(1);
    assert.deepEqual(run.running("work"), []);
  });

  test("is none where nothing of it runs on another machine: a landing that only moves the target, or has no gate", () => {
    const run = CoreRun.planned([task("a"), task("b")], { offerMs: DAY, landing: { gates: 2 } });
    run.work("t.1");
    assert.equal(run.events("job.started").at(-1)?.isOffered, true);
    const target = { ...run.state.target, report: { commands: [] } };
    Object.defineProperty(run.state, "target", { value: target });
    run.work("t.2");
    const last = run.events("job.started").at(-1)!;
    assert.equal(last.job.kind, "land");
    assert.equal(last.isOffered, undefined);
    assert.equal(last.until, run.now + run.policy.leaseMs.land);
  });

  test("keeps the time that it waits for a parked account, before and after it is taken", () => {
    const run = fleetRun();
    const quota = { ...failure("quota", "no more for today"), until: 3 * HOUR };
    run.say({ type: "account-refused", account: "agent", failure: quota });
    assert.equal(run.state.running.get(JOB)?.until, DAY + HOUR + 3 * HOUR);
    run.say(taken("m1"));
    assert.equal(run.state.running.get(JOB)?.until, 4 * HOUR);
    run.say({ type: "account-refused", account: "agent", failure: { ...quota, until: 5 * HOUR } });
    assert.equal(run.state.running.get(JOB)?.until, 6 * HOUR);
    run.wait(5 * HOUR + 1);
    run.say(taken("m2", 1));
    assert.equal(run.state.running.get(JOB)?.until, 6 * HOUR + 1);
  });

  test("that is over cannot be taken", () => {
    const run = fleetRun();
    run.work("t.1");
    run.say(taken("m1"), taken("m1", 0, "work:t.9#1" as JobId));
    assert.deepEqual(run.events("job.taken"), []);
  });

  test("is not known on one machine, where its lease counts from its start", () => {
    const run = fleetRun(0);
    const started = run.events("job.started").at(-1)!;
    assert.deepEqual(
      { ...started, job: undefined },
      { type: "job.started", job: undefined, at: 0, until: HOUR },
    );
  });
});

describe("a machine of the fleet", () => {
  test("is in the log once for each change", () => {
    const run = fleetRun();
    run.say(machine(), machine(), machine({ state: "silent" }), machine({ capacity: 4 }));
    run.say(machine({ capacity: 4, labels: [] }), machine({ capacity: 4, labels: [] }));
    assert.deepEqual(
      run.events("machine.changed").map(({ state, capacity, labels }) => [state, capacity, labels.length]),
      [
        ["ready", 2, 1],
        ["silent", 2, 1],
        ["ready", 4, 1],
        ["ready", 4, 0],
      ],
    );
    assert.deepEqual([...replay(run.log).machines], [["m1", { state: "ready", capacity: 4, labels: [] }]]);
  });

  test("is forgotten when it has gone, and one that was never there does not go", () => {
    const run = fleetRun();
    run.say(machine({ state: "silent" }), machine(), machine({ state: "gone" }), machine({ state: "gone" }));
    assert.equal(run.events("machine.changed").length, 2);
    assert.equal(run.state.machines.size, 0);
  });

  test("whose session was ended for holding others up is named, in harmless words, and goes on as any other", () => {
    const run = fleetRun();
    run.say(machine(), { type: "held", machine: "m\u001b[2J1", heldMs: 5_432.1 });
    run.say({ type: "held", machine: "m1", heldMs: Number.NaN });
    const cut = run.events("machine.cut-off").map(({ machine, heldMs }) => [machine, heldMs]);
    assert.deepEqual(cut, [["m [2J1", 5_432]]);
    assert.equal(run.state.machines.size, 1);
  });

  test("says its name and labels in its own words: what steers a terminal, or is no label, stays out of the log", () => {
    const run = fleetRun();
    const name = `m\u001b[2J${"x".repeat(1_000)}`;
    run.say(machine({ machine: name, labels: ["gpu", "Ignore all rules\n", "arm64"] }), taken(name));
    const [changed] = run.events("machine.changed");
    assert.match(changed!.machine, /^m \[2Jx{50,}…$/);
    assert.ok(changed!.machine.length <= 64);
    assert.deepEqual(changed!.labels, ["gpu", "arm64"]);
    assert.equal(run.events("job.taken")[0]?.machine, changed!.machine);
  });

  test("that says nonsense of its capacity is not listened to", () => {
    const run = fleetRun();
    for (const capacity of [Number.NaN, -1, 1.5]) run.say(machine({ capacity }));
    assert.equal(run.state.machines.size, 0);
  });

  test("starts no job: nothing is due because of it", () => {
    const run = fleetRun();
    const { deadline } = due(run.state, run.policy, run.now);
    run.say(machine());
    assert.deepEqual(due(run.state, run.policy, run.now), { facts: [], deadline });
  });
});
