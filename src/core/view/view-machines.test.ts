/** Tests that every view lists the machines of the fleet with their jobs, and says when there is none. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import type { JobId } from "../job.ts";
import type { Report } from "../log/event.ts";
import { atWorkLabel, gateLabel, machinesIn, openJobLabel, placeLabel, stateLabel } from "./labels.ts";
import { calmLabel, lacksMachine, needsOf } from "./needs.ts";
import { rowsOf } from "./rows.ts";
import { standingOf } from "./standing.ts";
import { jobsOf } from "./task-facts.ts";
import { timeSpent } from "./time-spent.ts";
import { timelineOf } from "./timeline.ts";
import { nothingSeen, see } from "./view.ts";
import { machineLabel, machinesLabel } from "./view-machines.ts";

const seenOf = ({ log }: CoreRun) => log.reduce(see, nothingSeen());
const viewOf = (run: CoreRun) => standingOf(seenOf(run));
const machine = (name: string, state: Extract<Report, { type: "machine" }>["state"] = "ready"): Report => ({
  ...{ type: "machine", machine: name, state, capacity: 2, labels: name === "m1" ? ["gpu"] : [] },
});
const taken = (job: string, name: string): Report => ({
  type: "taken",
  job: job as JobId,
  machine: name,
  tries: 0,
  agoMs: 0,
});
const started = () => CoreRun.planned([task("a"), task("b")], { offerMs: MINUTE });

describe("the machines of a fleet", () => {
  it("are listed by name, with the jobs of the run that each has", () => {
    const run = started();
    run.say(machine("m2"), machine("m1"), machine("m3"), machine("m3", "silent"), machine("m4", "draining"));
    run.say(taken("work:t.1#1", "m1"), taken("work:t.2#1", "m1"), taken("work:t.2#1", "m2"));
    const { machines = [] } = viewOf(run);
    assert.deepEqual(
      machines.map(({ name, jobs }) => [name, jobs]),
      [
        ["m1", ["work:t.1#1"]],
        ["m2", ["work:t.2#1"]],
        ["m3", []],
        ["m4", []],
      ],
    );
    assert.equal(
      machinesLabel(machines),
      "2 ready (2 of 4 slots busy with this run), 1 draining: m4, 1 silent: m3",
    );
    assert.equal(machineLabel(machines[0]!), "m1 (gpu): ready, 1 of 2 slots busy with this run");
  });

  it("are not shown of a run on one machine, of one that is stopped, and of one that is over", () => {
    assert.ok(!("machines" in viewOf(CoreRun.planned([task("a")]))));
    const run = started();
    run.say(machine("m1"));
    assert.deepEqual(machinesIn(viewOf(run), "stopped"), []);
    assert.equal(machinesIn(viewOf(run), "running").length, 1);
    run.say({ type: "cancel" });
    assert.ok(run.closed);
    assert.ok(!("machines" in viewOf(run)));
  });

  it("are named where their jobs are, and a job that none has taken says so", () => {
    const run = started();
    run.say(machine("m1"));
    const words = () => rowsOf(run.state).map((row) => stateLabel(row, "running"));
    assert.deepEqual(words().slice(1), ["waiting for a machine", "waiting for a machine"]);
    run.wait(1);
    run.say(taken("work:t.1#1", "m1"));
    assert.deepEqual(words().slice(1), ["working on m1", "waiting for a machine"]);
    assert.equal(stateLabel(rowsOf(run.state)[1]!, "stopped"), "interrupted");
    const [one, other] = viewOf(run).running;
    assert.deepEqual([one!.machine, one!.since, placeLabel(one!)], ["m1", 1, " on m1"]);
    assert.deepEqual([other!.isUntaken, placeLabel(other!)], [true, ", waiting for a machine"]);
    assert.equal(atWorkLabel(viewOf(run).running), "At work (1), waiting for a machine (1)");
    assert.equal(atWorkLabel([one!]), "At work (1)");
    assert.equal(openJobLabel("running", one!), "running");
    assert.equal(openJobLabel("running", other!), "waiting for a machine");
    assert.equal(atWorkLabel([other!]), "Waiting for a machine (1)");
    const drawn = timelineOf(seenOf(run)).flatMap(({ spans }) => spans.map(({ job }) => job));
    assert.ok(drawn.includes(one!.job) && !drawn.includes(other!.job), "no clock runs for what only waits");
    assert.equal(jobsOf(seenOf(run), "t.1" as never)[0]?.machine, "m1");
    run.work("t.1");
    assert.equal(gateLabel(viewOf(run).running[1]!, "a"), "gate for a: waiting for a machine");
    run.say(taken("land#1", "m2"));
    assert.equal(gateLabel(viewOf(run).running[1]!, "a"), "gate on a, on m2");
    assert.equal(words()[1], "in the gate on m2");
  });

  it("are asked of the user while jobs wait and none is ready", () => {
    const run = started();
    const said = () => lacksMachine(viewOf(run), "running");
    assert.equal(said(), "no machine is in the fleet now: jobs wait (skein worker --join)");
    assert.deepEqual(
      needsOf(viewOf(run), "running").map(({ is }) => is),
      ["machine"],
    );
    assert.equal(calmLabel(viewOf(run), "running"), "");
    assert.deepEqual(needsOf(viewOf(run), "stopped"), []);
    run.say(machine("m1"), machine("m1", "silent"));
    assert.equal(said(), "no machine is ready (1 silent: m1): jobs wait (skein worker --join)");
    run.say(machine("m2"));
    assert.equal(said(), "");
    run.say(machine("m2", "gone"), taken("work:t.1#1", "m1"), taken("work:t.2#1", "m1"));
    assert.equal(said(), "", "nothing waits");
    assert.equal(lacksMachine(viewOf(CoreRun.planned([task("a")])), "running"), "");
  });

  it("are asked of the user where none has a label that a waiting task needs", () => {
    const run = CoreRun.planned([task("a", { needs: ["gpu", "arm64"] })], { offerMs: MINUTE });
    run.say(machine("m1"), machine("m2"));
    assert.equal(
      lacksMachine(viewOf(run), "running"),
      "no machine that is ready has gpu,arm64: a waits (skein worker --join --labels gpu,arm64)",
    );
    const both: Report = {
      type: "machine",
      machine: "m3",
      state: "ready",
      capacity: 1,
      labels: ["arm64", "gpu"],
    };
    run.say(both);
    assert.equal(lacksMachine(viewOf(run), "running"), "");
  });

  it("are given no time of an agent in which its workspace is made ready, which the report counts apart", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "quiet", job: "work:t.1#1" as JobId, ms: 2_000, doing: "copying node_modules" });
    assert.equal(viewOf(run).running[0]?.doing, "copying node_modules");
    run.wait(12_000);
    run.say({ type: "prepared", job: "work:t.1#1" as JobId, ms: 12_000, doing: "copying node_modules" });
    assert.equal(viewOf(run).running[0]?.doing, undefined, "its agent begins");
    run.wait(1_000);
    run.work("t.1");
    const { story, state } = seenOf(run);
    assert.deepEqual(
      [story.tally.agentsMs, story.tally.prepareMs, story.jobs.work.ms],
      [1_000, 12_000, 1_000],
    );
    const { parts } = timeSpent(story, state.openedAt);
    assert.deepEqual(
      parts.filter(({ is }) => is === "work" || is === "prepare").map(({ is, ms }) => [is, ms]),
      [
        ["work", 1_000],
        ["prepare", 12_000],
      ],
    );
  });

  it("are not waited for in the time that work took", () => {
    const run = started();
    run.wait(MINUTE);
    run.say(taken("work:t.1#1", "m1"));
    run.wait(1_000);
    run.work("t.1");
    const { story, state } = seenOf(run);
    const { parts, mostWorkers } = timeSpent(story, state.openedAt);
    assert.deepEqual([parts.find(({ is }) => is === "work")!.ms, mostWorkers], [1_000, 1]);
    assert.equal(story.tally.agentsMs, 1_000);
    assert.equal(story.tally.mostAtOnce, 1);
    assert.equal(story.spans.byId.get("work:t.1#1" as JobId)!.from, MINUTE);
    assert.equal(story.jobs.work.ms, 1_000);
  });
});
