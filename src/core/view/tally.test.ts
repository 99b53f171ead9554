/** Tests the sums of a run: agents' time, gate runs, losses and red targets. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, large, MINUTE, task } from "../../../test/support/core-run.ts";
import { type FailureKind, failure } from "../failure.ts";
import type { TaskId } from "../task.ts";
import { nothingSeen, see, viewOf } from "./view.ts";

const tallyOf = ({ log }: CoreRun) => viewOf(log.reduce(see, nothingSeen())).tally;
const lossOf = (run: CoreRun, reason: string) => tallyOf(run).losses.find((loss) => loss.reason === reason);

/** Lets `ms` pass before `happens`. */
function after<T>(run: CoreRun, ms: number, happens: () => T): T {
  run.now += ms;
  return happens();
}

/** `names` are in one candidate whose gate starts now. The first task landed before them, in 100 ms. */
function inOneBatch(names: readonly string[]): CoreRun {
  const run = CoreRun.planned([task("first"), ...names.map((name) => task(name))]);
  run.work("t.1");
  for (const i of names.keys()) run.work(`t.${i + 2}`);
  after(run, 100, () => run.land());
  assert.equal(run.candidate().length, names.length);
  return run;
}

describe("how well the agents were spread", () => {
  it("is their time at work, of what as many as there were at most could have done", () => {
    const run = new CoreRun();
    run.check();
    after(run, 1_000, () => run.plan("t", [task("a"), task("b")])); // One planner for one second.
    after(run, 2_000, () => run.work("t.1")); // Two workers for two seconds, then one for one more.
    after(run, 1_000, () => run.work("t.2"));
    const { agents } = tallyOf(run);
    assert.deepEqual(agents, { workMs: 6_000, wallMs: 4_000, mostAtOnce: 2, share: 0.75 });
    while (run.candidate().length > 0) run.land();
    assert.equal(run.running("plan").length, 1);
    assert.equal(tallyOf(run).agents.mostAtOnce, 2);
  });

  it("counts who is still at work, up to now", () => {
    const run = CoreRun.planned([task("a")]);
    after(run, 3_000, () => run.say({ type: "steer", message: "hurry" }));
    assert.equal(tallyOf(run).agents.workMs, 3_000);
  });

  it("does not count time that nobody saw, nor the pause between two engines", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    after(run, 1_000, () => run.work("t.1"));
    after(run, 60_000, () => run.say({ type: "interrupted", job: run.running("work")[0] as never }));
    const { workMs, wallMs } = tallyOf(run).agents;
    assert.deepEqual([workMs, wallMs], [1_000, 1_000]);
    assert.deepEqual(tallyOf(run).losses, [], "an interruption is nobody's loss");
  });
});

describe("the runs of the gate", () => {
  it("are none where a base passed in an earlier run", () => {
    const run = new CoreRun();
    const [check = ""] = run.running("check");
    const { tip } = run.state.target;
    const report = { commands: [{ name: "test", green: true, failures: [] }] };
    run.answer(check, { is: "checked", tip, report, problems: [], passedAt: 1 });
    assert.equal(tallyOf(run).gate.runs, 0);
  });

  it("are those of landings and looks, for each task that landed", () => {
    const run = inOneBatch(["b", "c", "d"]);
    after(run, 300, () => run.land());
    const { gate } = tallyOf(run);
    assert.deepEqual(gate, {
      runs: 3, // One check of the base, two candidates.
      ms: 400,
      landings: 2,
      tasks: 4,
      largestBatch: 3,
      perTask: 0.75,
    });
  });

  it("are none where nothing could be merged, and where the machine failed", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.work("t.1");
    run.landFailed();
    assert.equal(tallyOf(run).gate.runs, 1);
    run.wait(10_000);
    run.land();
    run.work("t.2");
    run.land([{ task: "t.2" as TaskId, files: ["x"], against: "target" }]);
    assert.equal(tallyOf(run).gate.runs, 2);
  });

  it("are none where the target had been moved before the gate could run", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    run.landRed();
    const { members } = run.landing();
    run.landMoved({ tip: "elsewhere", landings: [{ commit: "c9", members }] });
    assert.equal(run.is("t.1"), "done");
    assert.deepEqual([tallyOf(run).gate.runs, tallyOf(run).gate.landings], [2, 1]);
  });

  it("are none where a tip that is known to be green is only looked up", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.wait(60_000); // A check is due while the planner works.
    run.check();
    const before = tallyOf(run).gate.runs;
    assert.equal(before, 3);
    after(run, 10, () => run.plan("t", []));
    assert.ok(run.brief("check").seen);
    run.check();
    assert.equal(run.closed?.how, "done");
    assert.equal(tallyOf(run).gate.runs, before);
  });

  it("are not counted where there is no gate", () => {
    const run = new CoreRun();
    run.answer("check#1", { is: "checked", tip: "base", report: { commands: [] }, problems: [] });
    run.plan("t", [task("a")]);
    run.work("t.1");
    const members = [{ task: "t.1" as TaskId, attempt: 1 }];
    run.answer("land#1", { is: "landed", commit: "c1", members, conflicts: [], proof: "ungated" });
    assert.deepEqual([tallyOf(run).gate.runs, tallyOf(run).gate.landings], [0, 1]);
  });
});

describe("what a setback cost", () => {
  it("is the time of the attempt and what was spent on it, by reason", () => {
    const run = CoreRun.planned(["a", "b", "c", "d"].map((id) => task(id)));
    run.now = 500;
    run.work("t.1", { filesChanged: ["elsewhere.ts"], spent: { tokens: 10, microdollars: 7 } });
    run.work("t.2", { filesChanged: [] });
    run.fail("work", "t.3", "interrupted");
    after(run, 100, () => run.fail("work", "t.4", "agent-unreachable"));
    after(run, 100, () => run.work("t.1", { filesChanged: ["elsewhere.ts"], spent: { tokens: 5 } }));
    const { losses } = tallyOf(run);
    const none = { gateRuns: 0, gateMs: 0, tokens: 0, microdollars: 0 };
    assert.deepEqual(losses, [
      { reason: "out of scope", ...none, count: 2, workMs: 700, tokens: 15, microdollars: 7 },
      { reason: "empty change", ...none, count: 1, workMs: 500 },
      { reason: "died", ...none, count: 1, workMs: 500 },
      { reason: "outage", ...none, count: 1, workMs: 600 },
    ]);
  });

  it("knows a planner's turns, and an attempt after which the task has failed, once each", () => {
    const run = CoreRun.planned([task("a"), large("b")]);
    run.fail("plan", "t.2", "agent-unreachable");
    for (let n = 0; n < 3; n += 1) after(run, 10, () => run.fail("work", "t.1"));
    assert.equal(run.is("t.1"), "failed");
    assert.equal(lossOf(run, "outage")?.count, 1);
    assert.deepEqual([lossOf(run, "failed")?.count, lossOf(run, "failed")?.workMs], [3, 30]);
    const turns = run.policy.subplanner.maxErrorsInARow;
    for (let n = 0; n < turns; n += 1) {
      run.wait(60_000);
      run.fail("plan", "t.2", "plan-invalid");
    }
    assert.equal(run.is("t.2"), "failed");
    assert.deepEqual(
      tallyOf(run).losses.map(({ reason, count }) => [reason, count]),
      [
        ["outage", 1],
        ["failed", 3],
        ["plan of no use", turns - 1],
        ["given up", 1],
      ],
    );
  });

  it("has no run of the gate in it for a conflict", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    after(run, 200, () => run.work("t.1"));
    run.work("t.2");
    after(run, 50, () => run.land());
    after(run, 50, () => run.land([{ task: "t.2" as TaskId, files: ["x"], against: "target" }]));
    assert.deepEqual(lossOf(run, "conflict"), {
      ...{ reason: "conflict", count: 1, workMs: 200, gateRuns: 0, gateMs: 0 },
      ...{ tokens: 0, microdollars: 0 },
    });
  });

  it("has the whole bisection in it for the one that was guilty, but no run that landed something", () => {
    const run = inOneBatch(["b", "bad", "d", "e"]);
    const red = () => after(run, 100, () => run.landRed(["test: x"]));
    red();
    red();
    after(run, 30, () => run.check());
    assert.deepEqual(run.candidate(), ["t.2", "t.3"]);
    red();
    assert.deepEqual(run.candidate(), ["t.2"]);
    after(run, 100, () => run.land());
    red();
    assert.deepEqual(run.candidate(), ["t.4", "t.5"]);
    after(run, 100, () => run.land());
    const { gateRuns, gateMs, count } = lossOf(run, "gate red")!;
    assert.deepEqual([count, gateRuns, gateMs], [1, 5, 430]);
    assert.equal(tallyOf(run).gate.runs, 9, "one look, three landings, five for the bisection");
  });

  it("has a second run in it where one was asked twice, and leaves out what was called off", () => {
    const run = inOneBatch(["bad", "c"]);
    for (const _ of [1, 2]) run.landRed();
    run.check();
    for (const _ of [1, 2]) run.landRed();
    assert.equal(run.task("t.2").tries.refused, 1);
    assert.equal(lossOf(run, "gate red")?.gateRuns, 5);
    const other = CoreRun.planned([task("a"), task("b")]);
    other.work("t.1");
    for (const _ of [1, 2]) other.landRed();
    other.say({ type: "cancel", task: "t.1" as TaskId });
    other.check();
    other.work("t.2");
    for (const _ of [1, 2]) other.landRed();
    other.check();
    assert.equal(other.task("t.2").tries.refused, 1);
    assert.equal(lossOf(other, "gate red")?.gateRuns, 3);
  });

  it("gives a second bisection to the second one that is guilty", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    for (const [id, ms] of [
      ["t.1", 100],
      ["t.2", 10],
    ] as const) {
      run.work(id);
      after(run, ms, () => run.landRed());
      after(run, ms, () => run.landRed());
      after(run, ms, () => run.check());
      assert.equal(run.task(id).tries.refused, 1);
    }
    const { gateRuns, gateMs } = lossOf(run, "gate red")!;
    assert.deepEqual([gateRuns, gateMs], [6, 330]);
  });

  it("has a name for every kind of failure", () => {
    const kinds: readonly FailureKind[] = ["timed-out", "repository", "incomplete", "rule-broken"];
    const run = CoreRun.planned(kinds.map((kind) => task(kind)));
    for (const [i, kind] of kinds.entries()) run.fail("work", `t.${i + 1}`, kind);
    assert.deepEqual(
      tallyOf(run).losses.map(({ reason }) => reason),
      ["timed out", "the machine", "not finished", "rule broken"],
    );
  });
});

describe("a flaky test", () => {
  it("costs the runs that were red for it, and nobody else is charged with them", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.work("t.1");
    after(run, 80, () => run.landRed(["test: odd"]));
    after(run, 80, () => run.land());
    run.work("t.2");
    run.land();
    const { flaky, losses, gate } = tallyOf(run);
    assert.deepEqual(flaky, { tests: ["test: odd"], gateRuns: 1, gateMs: 80 });
    assert.deepEqual(losses, []);
    assert.equal(gate.runs, 4);
  });
});

describe("the time that the target was red", () => {
  it("is from the look that found it so to the landing that made it green, whose members repaired it", () => {
    const run = new CoreRun();
    after(run, 1_000, () => run.check(["test: x"]));
    after(run, 1_000, () => run.check(["test: x"]));
    run.plan("t", [task("a")]);
    const fix = run.running("work").map((job) => job.slice("work:".length, -2))[0]!;
    after(run, 3_000, () => run.work(fix));
    assert.deepEqual(tallyOf(run).red.spans[0], {
      ...{ from: 1_000, ms: 4_000, isOver: false, failures: ["test: x"], by: [] },
    });
    const members = run.landing().members;
    after(run, 500, () =>
      run.answer("land#1", { is: "landed", commit: "c1", members, conflicts: [], proof: "green" }),
    );
    after(run, 500, () => run.check());
    const { red, gate } = tallyOf(run);
    assert.equal(red.ms, 4_500);
    assert.deepEqual(red.spans, [
      {
        from: 1_000,
        ms: 4_500,
        isOver: true,
        failures: ["test: x"],
        by: [{ task: fix, name: "fix-tests-1" }],
      },
    ]);
    assert.equal(gate.runs, 4);
  });

  it("ends by itself, where the next look is green", () => {
    const run = new CoreRun();
    run.check(["test: x"]);
    after(run, 700, () => run.check());
    const { red } = tallyOf(run);
    assert.deepEqual([red.ms, red.spans[0]!.isOver, red.spans[0]!.by], [700, true, []]);
  });

  it("is told with what is red now, and not with what was mended meanwhile", () => {
    const run = new CoreRun();
    for (let looks = 0; looks < 2; looks += 1) after(run, 500, () => run.check(["types: a"]));
    run.wait(2 * MINUTE);
    after(run, 500, () => run.check(["test: b"]));
    const [span, ...others] = tallyOf(run).red.spans;
    assert.deepEqual([span?.isOver, span?.failures, others], [false, ["test: b"], []]);
  });
});

describe("what agents did", () => {
  const turn = { model: "m", calls: 3, toolCalls: 5, inputTokens: 100, outputTokens: 20, stop: "stop" };
  const spent = { tokens: 120, microdollars: 7, turn };
  const cut = { ...spent, unaccounted: { calls: 2, tokens: 900 } };

  it("is the sum of all turns, with what was cut off apart, and the cost of each task", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.answer("work:t.1#1", { is: "failed", failure: failure("agent-failed", "no") }, spent);
    run.answer("work:t.1#2", run.worked("t.1"), spent);
    run.answer("work:t.2#1", run.worked("t.2"), cut);
    const { calls, costs } = tallyOf(run);
    assert.deepEqual(calls, {
      calls: 9,
      toolCalls: 15,
      inputTokens: 300,
      outputTokens: 60,
      turns: 3,
      unaccounted: { calls: 2, tokens: 900, microdollars: 0 },
    });
    assert.deepEqual(
      costs.map(({ name, tokens, microdollars, unpriced }) => [name, tokens, microdollars, unpriced]),
      [
        ["a", 240, 14, 0],
        ["b", 120, 7, 1],
      ],
    );
  });

  it("counts a late answer, and one that was dropped, once each", () => {
    const run = CoreRun.planned([task("a")]);
    run.wait(run.policy.leaseMs.work);
    run.answer("work:t.1#1", { is: "failed", failure: failure("interrupted", "gone") }, spent);
    run.answer("work:t.1#1", run.worked("t.1"), spent);
    assert.equal(tallyOf(run).calls.turns, 1);
    assert.equal(run.state.spent.tokens, 120);
    const late = CoreRun.planned([task("a")]);
    late.wait(late.policy.leaseMs.work);
    late.answer("work:t.1#1", late.worked("t.1"), spent);
    assert.equal(late.is("t.1"), "landing");
    assert.equal(tallyOf(late).calls.turns, 1);
    assert.equal(late.task("t.1").used.tokens, 120);
  });

  it("leaves out a turn whose numbers are none", () => {
    const run = CoreRun.planned([task("a")]);
    const odd = { ...turn, inputTokens: Number.NaN };
    run.answer("work:t.1#1", run.worked("t.1"), { tokens: 1, turn: odd });
    assert.equal(tallyOf(run).calls.turns, 0);
    assert.equal(run.state.spent.tokens, 1);
  });

  it("and failed for lack of quota keeps its cost, charged to no task", () => {
    const run = CoreRun.planned([task("a")]);
    after(run, 5_000, () =>
      run.answer("work:t.1#1", { is: "failed", failure: failure("quota", "no more") }, spent),
    );
    const [loss] = tallyOf(run).losses;
    assert.deepEqual([loss?.reason, loss?.count, loss?.workMs, loss?.tokens], ["quota", 1, 5_000, 120]);
  });
});
