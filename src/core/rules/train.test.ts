/** Tests that candidates gated at once land in order, and that only those built on a failure are discarded. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, MINUTE, type PolicyChanges, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import type { JobId, LandJob, Member, Outcome } from "../job.ts";
import type { TaskId } from "../task.ts";
import { mayBuildOn, safeBatch } from "./batch-size.ts";
import { nextLanding } from "./train.ts";

/** Tasks whose work is done, one after the other, with this many gates. */
function train(names: readonly string[], gates: number, changes: PolicyChanges = {}): CoreRun {
  const run = CoreRun.planned(
    names.map((name) => task(name)),
    { capacity: { work: 20 }, root: { replanAfter: 20 }, landing: { gates }, ...changes },
  );
  names.forEach((_, i) => {
    run.work(`t.${i + 1}`);
  });
  return run;
}

const jobOf = (run: CoreRun, turn: number): LandJob =>
  run.state.running.get(`land#${turn}` as never)!.job as LandJob;

/** "1: t.1", "2: t.2 on 1", "5: t.2 moves 2". */
const jobs = (run: CoreRun): readonly string[] =>
  run.running("land").map((id) => {
    const { turn, members, on, moves } = jobOf(run, Number(id.slice("land#".length)));
    const how = on ? ` on ${on.join(" ")}` : moves === undefined ? "" : ` moves ${moves}`;
    return `${turn}: ${members.map((m) => m.task).join(" ")}${how}`;
  });

const green = { commands: [{ name: "test", green: true, failures: [] }] };

const passed = (run: CoreRun, turn: number, onto: string): Outcome => ({
  ...{ is: "gated", onto, commit: `c${turn}`, members: jobOf(run, turn).members, conflicts: [] },
  ...{ proof: "green", report: green, flags: [] },
});
const red = (run: CoreRun, turn: number, onto?: string, failure = "test: x"): Outcome => ({
  ...{ is: "red", members: jobOf(run, turn).members, conflicts: [], failures: [failure] },
  ...(onto !== undefined && { onto }),
});
const landed = (run: CoreRun, turn: number, commit = `c${turn}`): Outcome => ({
  ...{ is: "landed", commit, members: jobOf(run, turn).members, conflicts: [], proof: "green" },
});
const lands = (run: CoreRun, turn: number, commit?: string) =>
  run.answer(`land#${turn}`, landed(run, turn, commit));
const passes = (run: CoreRun, turn: number, onto: string) =>
  run.answer(`land#${turn}`, passed(run, turn, onto));
const fails = (run: CoreRun, turn: number, onto?: string, failure?: string) =>
  run.answer(`land#${turn}`, red(run, turn, onto, failure));

describe("a train of candidates", () => {
  it("gates a task at once if a gate is free, on top of those before it", () => {
    assert.deepEqual(jobs(train(["a", "b", "c"], 2)), ["1: t.1", "2: t.2 on 1"]);
    assert.deepEqual(jobs(train(["a", "b", "c"], 4)), ["1: t.1", "2: t.2 on 1", "3: t.3 on 1 2"]);
    assert.deepEqual(jobs(train(["a", "b", "c"], 1)), ["1: t.1"]);
  });

  it("lands in order, whichever gate is through first, by a job that only moves the target", () => {
    const run = train(["a", "b"], 2);
    passes(run, 2, "c1");
    assert.deepEqual([run.state.target.tip, ...jobs(run)], ["base", "1: t.1"]);
    lands(run, 1);
    assert.deepEqual([run.state.target.tip, ...jobs(run)], ["c1", "3: t.2 moves 2"]);
    const brief = run.brief("land");
    assert.deepEqual([brief.onto, brief.passed?.commit], ["c1", "c2"]);
    lands(run, 3, "c2");
    assert.deepEqual([run.state.target.tip, run.is("t.1"), run.is("t.2")], ["c2", "done", "done"]);
    assert.deepEqual(run.state.train, []);
  });

  it("tells a job what to build on, with dates that make the same commits", () => {
    const run = CoreRun.planned([task("a"), task("b")], { landing: { gates: 2 } });
    run.now = 1_000;
    run.work("t.1");
    run.now = 2_000;
    run.work("t.2");
    const { above, madeAt, onto } = run.briefOfLanding(2);
    assert.deepEqual([onto, madeAt], ["base", 2_000]);
    assert.deepEqual(
      above?.map((one) => [one.madeAt, one.members.map((m) => m.task)]),
      [[1_000, ["t.1"]]],
    );
    assert.equal(run.briefOfLanding(1).madeAt, 1_000);
  });

  it("discards what was built on a failure, uncharged, and builds it again without the failure", () => {
    const run = train(["a", "b", "c"], 3);
    passes(run, 2, "c1");
    run.now = 1_000;
    fails(run, 1);
    assert.deepEqual(jobs(run), ["4: t.1", "5: t.2 on ", "6: t.3 on 5"]);
    assert.deepEqual(run.events("job.ended").filter(({ how }) => how === "aborted").length, 1);
    assert.deepEqual([run.task("t.2").tries.refused, run.task("t.3").tries.refused], [0, 0]);
    // They wait for the verdict, and land after it.
    passes(run, 5, "base");
    assert.deepEqual(jobs(run), ["4: t.1", "6: t.3 on 5"]);
    run.check();
    fails(run, 4);
    assert.equal(run.task("t.1").tries.refused, 1);
    assert.deepEqual(jobs(run), ["6: t.3 on 5", "7: t.2 moves 5"]);
  });

  it("discards what was built without a task that turns out to be green", () => {
    const run = train(["a", "b"], 2);
    fails(run, 1);
    passes(run, 4, "base");
    lands(run, 3);
    assert.deepEqual([run.state.target.tip, run.is("t.1"), run.is("t.2")], ["c3", "done", "landing"]);
    assert.deepEqual(jobs(run), ["5: t.2"]);
  });

  it("judges a failure only when what it was built on has landed", () => {
    const run = train(["a", "b"], 2);
    fails(run, 2, "c1");
    assert.equal(run.state.landing.phase.is, "open");
    assert.deepEqual(jobs(run), ["1: t.1"]);
    lands(run, 1);
    assert.equal(run.state.landing.phase.is, "again");
    assert.deepEqual(jobs(run), ["3: t.2"]);
  });

  it("does not judge a failure whose base did not land", () => {
    const run = train(["a", "b"], 2);
    fails(run, 2, "c1");
    fails(run, 1);
    const { phase } = run.state.landing;
    assert.deepEqual(phase.is === "again" && phase.members.map((m: Member) => m.task), ["t.1"]);
    assert.deepEqual(jobs(run), ["3: t.1", "4: t.2 on "]);
  });

  it("does not land what was built on another commit than the target", () => {
    const run = train(["a", "b"], 2);
    passes(run, 2, "another");
    lands(run, 1);
    assert.deepEqual(jobs(run), ["3: t.2"], "it is gated again, and nothing moves to what had passed");
  });

  it("loses gate runs, and no task, when somebody moves the target", () => {
    const run = train(["a", "b", "c"], 3);
    passes(run, 2, "c1");
    run.answer("land#1", { is: "moved", tip: "theirs", landings: [] });
    assert.deepEqual(run.state.train, []);
    run.check();
    assert.deepEqual(jobs(run), ["4: t.1", "5: t.2 on 4", "6: t.3 on 4 5"]);
    assert.ok(["t.1", "t.2", "t.3"].every((id) => run.task(id).tries.refused === 0));
  });

  it("keeps what has passed when the engine is restarted while the target is moved", () => {
    const run = train(["a", "b"], 2);
    passes(run, 2, "c1");
    lands(run, 1);
    run.say({ type: "interrupted", job: "land#3" as never });
    assert.deepEqual(jobs(run), ["4: t.2 moves 2"]);
  });

  it("stops a task at once that is gated ahead, and goes on with the others", () => {
    const run = train(["a", "b", "c"], 3);
    run.say({ type: "cancel", task: "t.2" as never });
    assert.equal(run.is("t.2"), "cancelled");
    assert.deepEqual(jobs(run), ["1: t.1", "4: t.3 on 1"]);
    run.say({ type: "cancel", task: "t.1" as never });
    assert.equal(run.is("t.1"), "landing", "the target may be moved to it at this moment");
  });

  it("blames no task for what the target failed, too, while the candidate was run again", () => {
    const run = train(["a", "b"], 2);
    run.wait(1_000);
    fails(run, 1);
    run.check(["test: x"]);
    fails(run, 3);
    run.check();
    assert.equal(run.task("t.1").tries.refused, 0);
    assert.equal(run.state.undecided.get("t.1" as TaskId), 1);
  });

  it("gates the parts of a bisection at once, one part more than there are gates", () => {
    const run = batchOfSix();
    assert.deepEqual(jobs(run), ["6: t.3 t.4", "7: t.5 t.6 on 6"]);
    fails(run, 7, "c6");
    lands(run, 6);
    assert.deepEqual([run.is("t.3"), run.is("t.4")], ["done", "done"]);
    // One task of the second part is guilty; those of the third are queued again, and wait.
    assert.deepEqual(jobs(run), ["8: t.5"]);
    lands(run, 8);
    assert.deepEqual(jobs(run), ["9: t.6"]);
    fails(run, 9);
    assert.equal(run.task("t.6").tries.refused, 1);
    assert.ok(["t.3", "t.4", "t.5", "t.7", "t.8"].every((id) => run.task(id).tries.refused === 0));
    assert.deepEqual(jobs(run), ["10: t.7 t.8"]);
  });
});

/** t.3 to t.8 are in one candidate that is red twice on a green base, with two gates. */
function batchOfSix(): CoreRun {
  const run = CoreRun.planned(
    ["a", "b", "c", "d", "e", "f", "g", "h", "late"].map((name) => task(name)),
    { capacity: { work: 20 }, root: { replanAfter: 20 }, landing: { gates: 2 } },
  );
  Object.defineProperty(run.state, "odds", { get: () => ({ good: 1e6, bad: 0 }), set: () => {} });
  for (let n = 1; n <= 8; n += 1) run.work(`t.${n}`);
  lands(run, 1);
  passes(run, 2, "c1");
  lands(run, 4, "c2");
  run.now = 1_000;
  fails(run, 3, "c2");
  fails(run, 5);
  run.check();
  return run;
}

const DISK_FULL: Outcome = { is: "failed", failure: failure("repository", "disk full") };
const ended = (job: string, outcome: Outcome) => ({ type: "ended", job: job as JobId, outcome }) as const;
const checkedRed = (run: CoreRun, name: string): Outcome => ({
  ...{ is: "checked", tip: run.state.target.tip, problems: [] },
  report: { commands: [{ name: "test", green: false, failures: [name] }] },
});

describe("trouble while a candidate is judged and others are gated", () => {
  it("leaves the candidate that is landing in its phase when the target turns red and one ahead ends", () => {
    const gone: Outcome = { is: "gone", members: [{ task: "t.2" as TaskId, attempt: 1 }] };
    for (const outcome of [DISK_FULL, gone]) {
      const run = train(["a", "b"], 2);
      run.now = 1_000;
      fails(run, 1);
      assert.deepEqual(jobs(run), ["3: t.1", "4: t.2 on "]);
      run.check(["test: y"]);
      const [check] = run.running("check");
      run.say(ended(check!, checkedRed(run, "y")), ended("land#4", outcome));
      assert.equal(run.state.landing.phase.is, "again");
      fails(run, 3);
      assert.deepEqual([run.state.landing.phase.is, run.task("t.1").tries.refused], ["open", 0]);
    }
  });

  it("asks the base again before it blames a task for other failures than before the base had passed", () => {
    const run = train(["a"], 2);
    run.now = 1_000;
    fails(run, 1);
    run.check();
    run.now = 2_000;
    fails(run, 2, undefined, "test: service");
    run.now = 3_000;
    fails(run, 3, undefined, "test: service");
    assert.deepEqual([run.state.landing.phase.is, run.running("check").length], ["base", 1]);
    run.checkRed(["test: service"]);
    assert.equal(run.task("t.1").tries.refused, 0);
  });

  it("asks the base again before it blames a part of a bisection for another failure than the one sought", () => {
    const run = batchOfSix();
    run.now = 2_000;
    fails(run, 6, undefined, "test: service");
    fails(run, 8, undefined, "test: service");
    assert.deepEqual([run.state.landing.phase.is, run.running("check").length], ["base", 1]);
  });

  it("does not gate a cancelled task again when its job and one ahead run out of time together", () => {
    const run = train(["a", "b"], 2);
    run.now = 1_000;
    fails(run, 1);
    run.check();
    run.say({ type: "cancel", task: "t.1" as TaskId });
    assert.deepEqual([run.is("t.1"), ...jobs(run)], ["landing", "3: t.1", "4: t.2 on "]);
    run.wait(run.policy.leaseMs.land + MINUTE);
    assert.deepEqual([run.is("t.1"), run.state.landing.phase.is], ["cancelled", "open"]);
    assert.deepEqual(jobs(run), ["5: t.2"]);
  });

  it("gates a part of a bisection again before it lands what came meanwhile, or it would never be judged", () => {
    const run = batchOfSix();
    (run.state.flaky as Map<string, number>).set("test: x", 1);
    fails(run, 6);
    run.work("t.9");
    assert.deepEqual(jobs(run), ["8: t.3 t.4", "9: t.9 on "]);
    passes(run, 9, "c2");
    fails(run, 8);
    const { phase } = run.state.landing;
    assert.deepEqual([phase.is === "bisect" && phase.reds, ...jobs(run)], [2, "10: t.3 t.4"]);
  });

  it("counts an outage that ends all land jobs as one error, and waits", () => {
    const run = train(["a", "b", "c"], 3);
    run.say(...[3, 1, 2].map((turn) => ended(`land#${turn}`, DISK_FULL)));
    assert.equal(run.state.landing.errors, 1);
    assert.ok(run.state.landing.retryAt > run.now);
    const ahead = train(["a", "b"], 2);
    ahead.answer("land#2", DISK_FULL);
    assert.equal(ahead.state.landing.errors, 0);
    assert.ok(ahead.state.landing.retryAt > ahead.now);
  });
});

describe("how far ahead candidates are gated", () => {
  it("follows from what the run has seen: not where a bad one below is likelier than not", () => {
    assert.ok(mayBuildOn({ good: 0, bad: 0 }, 13));
    assert.ok(!mayBuildOn({ good: 0, bad: 0 }, 14));
    assert.ok(mayBuildOn({ good: 5, bad: 5 }, 2));
    assert.ok(!mayBuildOn({ good: 5, bad: 5 }, 3));
    assert.ok(mayBuildOn({ good: 200, bad: 0 }, 200));
  });

  it("walks through no queue where nothing may be built on what is gated", () => {
    const run = train(["a"], 2);
    Object.defineProperty(run.state, "odds", { get: () => ({ good: 0, bad: 1_000 }) });
    run.state.dag.ready = () => assert.fail("the queue was walked through");
    assert.equal(nextLanding(run.state, run.policy), undefined);
  });

  it("ends where as many wait for one that is slow as the policy allows", () => {
    const run = train(["a", "b", "c", "d", "e"], 2, { landing: { gates: 2, maxTrainPerGate: 1 } });
    passes(run, 2, "c1");
    passes(run, 3, "c2");
    assert.deepEqual([run.state.train.length, ...jobs(run)], [2, "1: t.1"]);
    lands(run, 1);
    assert.deepEqual(jobs(run), ["4: t.2 moves 2"]);
    lands(run, 4, "c2");
    assert.deepEqual(jobs(run), ["5: t.3 t.4 t.5 moves 3"]);
  });

  it("leaves nothing waiting for a busy gate that a free one could take", () => {
    const run = train(["a", "b", "c", "d", "e"], 2);
    assert.deepEqual(jobs(run), ["1: t.1", "2: t.2 on 1"]);
    passes(run, 2, "c1");
    assert.deepEqual(jobs(run), ["1: t.1", "3: t.3 t.4 t.5 on 1 2"]);
  });

  it("shares the ready tasks out, unless a bad one is improbable", () => {
    assert.deepEqual([safeBatch({ good: 0, bad: 0 }), safeBatch({ good: 90, bad: 0 })], [1, 10]);
  });
});
