/** Tests the first check of the base, set-up failures, and the probe of the gate. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, MINUTE, type PolicyChanges, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import { judgeGate, type Probed } from "../gate.ts";
import { replay } from "../log/evolve.ts";
import { emptyStory } from "../view/story.ts";
import { viewOf } from "../view/view.ts";
import { waitOf } from "../view/view-wait.ts";

const BASE_FIRST = { baseFirstMs: MINUTE };
const PROBE = { ...BASE_FIRST, probe: true };
const NO_MOCHA = failure("setup", "npm test: mocha: not found", "workspace:\n  setup: npm ci");
const NOT_SEEN = failure("setup", "your tests pass without your code");

const jobsOf = (run: CoreRun) => run.running().toSorted();
const answer = (run: CoreRun, probed: Probed) =>
  run.answer(run.running("check")[0]!, { is: "probed", probed });
const fails = (run: CoreRun, job: string, why = NO_MOCHA) => run.answer(job, { is: "failed", failure: why });
const checkFails = (run: CoreRun, why = NO_MOCHA) => fails(run, run.running("check")[0]!, why);

describe("the first look at the base", () => {
  it("comes before the first turn of the planner, and of a worker", () => {
    const run = new CoreRun(BASE_FIRST);
    assert.deepEqual(jobsOf(run), ["check#1"]);
    run.check();
    assert.deepEqual(jobsOf(run), ["plan:t#1"]);
  });

  it("is waited for no longer than a minute, and then it goes on beside the planner", () => {
    const run = new CoreRun(BASE_FIRST);
    run.wait(MINUTE - 1);
    assert.deepEqual(jobsOf(run), ["check#1"]);
    run.wait(1);
    assert.deepEqual(jobsOf(run), ["check#1", "plan:t#1"]);
  });

  it("that is red is followed by a second one, and only then by an agent", () => {
    const run = new CoreRun(BASE_FIRST);
    run.check(["test: x"]);
    assert.deepEqual(jobsOf(run), ["check#2"]);
    run.check();
    assert.deepEqual(jobsOf(run), ["plan:t#1"], "it was chance");
  });

  it("that a restart has cut off is made again, and waited for again", () => {
    const run = new CoreRun(BASE_FIRST);
    run.wait(MINUTE / 2);
    run.now += 10 * MINUTE;
    run.say({ type: "interrupted", job: "check#1" as never });
    assert.deepEqual(jobsOf(run), ["check#2"]);
  });

  it("is waited for by nobody in a policy that does not say so, as in runs that were begun before", () => {
    assert.deepEqual(jobsOf(new CoreRun()), ["check#1", "plan:t#1"]);
  });
});

describe("a base whose gate cannot be run", () => {
  it("stops the run before anything is planned: nothing is started, however long one waits", () => {
    const run = new CoreRun(PROBE);
    checkFails(run);
    assert.deepEqual(
      run.events("setup.failed").map((e) => e.failure),
      [NO_MOCHA],
    );
    run.wait(24 * 60 * MINUTE);
    assert.deepEqual(jobsOf(run), []);
    assert.equal(run.closed, undefined);
    assert.equal(run.events("target.unchecked").length, 0);
    assert.match(waitOf(run.state, run.policy, run.now)!.what, /set-up failed.*mocha: not found/);
    assert.deepEqual(viewOf({ state: run.state, story: emptyStory() }).setup, NO_MOCHA);
  });

  it("is looked at again by resume, and goes on where it is mended", () => {
    const run = new CoreRun(PROBE);
    checkFails(run);
    run.wait(10 * MINUTE);
    run.say({ type: "resume" });
    assert.equal(run.events("setup.retried").length, 1);
    assert.deepEqual(jobsOf(run), ["check#2"], "the planner waits for it again");
    run.check();
    assert.deepEqual(jobsOf(run), ["check#3", "plan:t#1"]);
    assert.deepEqual(replay(run.log).setup, run.state.setup);
  });

  it("can be cancelled", () => {
    const run = new CoreRun(PROBE);
    checkFails(run);
    run.say({ type: "cancel" });
    assert.equal(run.closed?.how, "cancelled");
  });
});

describe("a set-up that worked before and fails", () => {
  it("is a check that could not be made, until it was so too often", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    for (let n = 1; n < 5; n += 1) {
      while (run.running("check").length === 0) run.wait(MINUTE);
      checkFails(run);
      assert.equal(run.state.setup.failure, undefined, `after ${n}`);
    }
    while (run.running("check").length === 0) run.wait(MINUTE);
    checkFails(run);
    assert.deepEqual(run.state.setup.failure, NO_MOCHA);
    run.say({ type: "resume" });
    run.check();
    assert.equal(run.state.target.health, "green");
    assert.equal(run.state.setup.failure, undefined);
  });

  it("is held against no task and no planner, and waits before the next try", () => {
    const run = CoreRun.planned([task("a")]);
    fails(run, "work:t.1#1");
    const [retried] = run.events("task.retried");
    assert.equal(retried!.charge, "nothing");
    assert.ok(retried!.retryAt > run.now);
    assert.equal(run.state.setup.failure, undefined);
    for (let n = 2; n <= 5; n += 1) {
      run.wait(MINUTE);
      fails(run, `work:t.1#${n}`);
    }
    assert.deepEqual(run.state.setup.failure, NO_MOCHA);
    assert.equal(run.is("t.1"), "open");
    run.wait(60 * MINUTE);
    assert.deepEqual(jobsOf(run), []);
    run.say({ type: "resume" });
    run.check();
    run.work("t.1");
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.equal(run.state.setup.errors, 0);
  });

  it("stops at once where no workspace was ever ready, whichever job meets it first", () => {
    const run = new CoreRun();
    fails(run, "plan:t#1");
    assert.deepEqual(run.state.setup.failure, NO_MOCHA);
    assert.deepEqual(
      run.events("plan.rejected").map(({ charge, reasons }) => [charge, reasons]),
      [["nothing", []]],
    );
    assert.equal(run.task("t").tries.planErrors, 0);
  });

  it("voids what the gate said of a candidate meanwhile: nobody is refused for it", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    run.landRed(["npm test"]);
    run.landRed(["npm test"]);
    assert.equal(run.state.landing.phase.is, "base");
    for (let n = 0; n < 5; n += 1) {
      checkFails(run);
      run.wait(MINUTE);
    }
    assert.deepEqual(run.state.setup.failure, NO_MOCHA);
    run.say({ type: "resume" });
    assert.equal(run.state.landing.phase.is, "open");
    run.check();
    assert.deepEqual(run.candidate(), ["t.1"]);
    run.land();
    assert.equal(run.is("t.1"), "done");
  });
});

describe("what a gate says while the set-up has failed", () => {
  /** One task is landing, and the other one's worker has met the failure too often. */
  const stillWith = (landing: (run: CoreRun) => void) => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.work("t.1");
    landing(run);
    for (let n = 1; n <= 5; n += 1) {
      fails(run, `work:t.2#${n}`);
      run.wait(MINUTE);
    }
    assert.deepEqual(run.state.setup.failure, NO_MOCHA);
    return run;
  };

  it("is held against no candidate", () => {
    const run = stillWith(() => {});
    run.landRed(["test: x"]);
    assert.deepEqual([run.state.landing.phase.is, run.is("t.1")], ["open", "landing"]);
  });

  it("of the target refuses nobody: it is looked at again", () => {
    const run = stillWith((one) => {
      one.landRed(["test: x"]);
      one.landRed(["test: x"]);
    });
    run.check();
    assert.deepEqual([run.state.landing.phase.is, run.is("t.1")], ["base", "landing"]);
    run.say({ type: "resume" });
    run.check();
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.equal(run.events("task.retried").filter(({ failure: why }) => why.kind === "gate-red").length, 0);
  });
});

describe("the probe of the gate", () => {
  const probing = (changes: PolicyChanges = {}) => CoreRun.green({ ...PROBE, ...changes });

  it("goes on beside the planner's first turn, and knows what the gate said", () => {
    const run = probing();
    assert.deepEqual(jobsOf(run), ["check#2", "plan:t#1"]);
    const brief = run.brief("check");
    assert.equal(brief.probe, true);
    assert.deepEqual(brief.seen, run.state.target.report);
  });

  it("is waited for by workers, but no longer than a minute after the run began", () => {
    const run = new CoreRun(PROBE);
    run.check();
    run.plan("t", [task("a")]);
    assert.deepEqual(jobsOf(run), ["check#2"]);
    run.wait(MINUTE);
    assert.deepEqual(jobsOf(run), ["check#2", "work:t.1#1"]);
  });

  it("is waited for by every landing", () => {
    const run = probing();
    run.plan("t", [task("a")]);
    run.wait(MINUTE);
    run.work("t.1");
    assert.deepEqual(run.candidate(), []);
    answer(run, { is: "proved" });
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.equal(run.brief("land").probe, "proved");
  });

  it("says nothing any more of a gate that a landing has changed", () => {
    const run = probing();
    answer(run, { is: "proved" });
    run.plan("t", [task("a", { scope: ["package.json"] })]);
    run.work("t.1", {
      gateChanges: [{ of: "gate", file: "package.json", what: "package.json: the script test" }],
    });
    run.land();
    assert.deepEqual(run.state.setup.probed, { is: "not-probed", why: "a changed what it runs" });
  });

  it("is also made on a base that is red, once that is sure", () => {
    const run = new CoreRun(PROBE);
    run.check(["test: x"]);
    assert.equal(run.brief("check").probe, undefined);
    run.check(["test: x"]);
    assert.equal(run.brief("check").probe, true);
    run.wait(MINUTE);
    run.work("t.1");
    assert.deepEqual(run.candidate(), []);
    answer(run, { is: "proved" });
    assert.deepEqual(run.candidate(), ["t.1"]);
  });

  it("that had nothing to go by on a red base is made again when the target is green, and only then", () => {
    const run = new CoreRun(PROBE);
    run.check(["test: x"]);
    run.check(["test: x"]);
    answer(run, { is: "not-probed", why: "no tests passed before it" });
    run.plan("t", [task("a"), task("b")]);
    run.wait(MINUTE);
    run.work("t.1");
    assert.deepEqual(run.candidate(), ["t.1"], "a fix does not wait for it");
    run.land();
    run.check();
    assert.equal(run.brief("check").probe, true);
    run.work("t.2");
    assert.deepEqual(run.candidate(), [], "now it can be known");
    answer(run, { is: "not-probed", why: "it takes too long" });
    assert.deepEqual(run.candidate(), ["t.2"]);
    assert.equal(run.brief("land").probe, "not probed: it takes too long");
    run.land();
    assert.equal(run.running("check").length, 0, "on a green target it is made once");
  });

  it("stops the run where the gate proves nothing, and is made again after resume", () => {
    const run = probing();
    answer(run, { is: "unproven", failure: NOT_SEEN });
    assert.deepEqual(run.state.setup.failure, NOT_SEEN);
    run.plan("t", [task("a")]);
    assert.deepEqual(jobsOf(run), [], "what was asked before is heard, and nothing follows from it");
    run.say({ type: "resume" });
    run.check();
    assert.equal(run.brief("check").probe, true);
    run.wait(MINUTE);
    run.work("t.1");
    assert.deepEqual(run.candidate(), []);
    answer(run, { is: "proved" });
    assert.deepEqual(run.candidate(), ["t.1"]);
  });

  it("that says why it was not made lets the run go on", () => {
    const run = probing();
    run.plan("t", [task("a")]);
    run.wait(MINUTE);
    run.work("t.1");
    answer(run, { is: "not-probed", why: "there are no tests" });
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.equal(run.brief("land").probe, "not probed: there are no tests");
  });

  it("is made again when the machine has failed, and is given up with the reason", () => {
    const run = probing();
    const why = failure("repository", "the disk is full");
    for (let n = 1; n < 5; n += 1) {
      checkFails(run, why);
      assert.equal(run.running("check").length, 0, "not at once");
      run.wait(MINUTE);
    }
    assert.equal(run.brief("check").probe, true);
    checkFails(run, why);
    assert.deepEqual(run.state.setup.probed, { is: "not-probed", why: "the disk is full" });
    assert.equal(run.state.target.checkErrors, 0);
  });

  it("that a restart has cut off is due again at once", () => {
    const run = probing();
    run.say({ type: "interrupted", job: "check#2" as never });
    assert.equal(run.brief("check").probe, true);
    assert.equal(run.events("gate.unprobed").length, 0);
  });

  it("is given up where the target cannot be checked: a green candidate is proof enough", () => {
    const run = new CoreRun(PROBE);
    for (let n = 0; n < 5; n += 1) {
      run.checkFailed();
      run.wait(MINUTE);
    }
    assert.deepEqual(run.state.setup.probed, { is: "not-probed", why: "no gate" });
    run.plan("t", [task("a")]);
    run.wait(MINUTE);
    run.work("t.1");
    assert.deepEqual(run.candidate(), ["t.1"]);
  });

  it("is not made where it is switched off, or where there is no gate", () => {
    assert.equal(CoreRun.green(BASE_FIRST).running("check").length, 0);
    const run = new CoreRun(PROBE);
    const { tip } = run.state.target;
    run.answer("check#1", { is: "checked", tip, report: { commands: [] }, problems: [] });
    assert.deepEqual(jobsOf(run), ["plan:t#1"]);
    run.plan("t", [task("a")]);
    run.wait(MINUTE);
    run.work("t.1");
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.equal(run.brief("land").probe, undefined);
  });
});

it("a task that is not green on a target which is red without a name is refused, and not tried for ever", () => {
  const run = CoreRun.planned([task("a")], { repair: { maxRounds: 0 } });
  run.work("t.1");
  run.land();
  run.plan("t", [task("b")]);
  run.work("t.2");
  const report = { commands: [{ name: "build", green: false, failures: [] }] };
  const problems = [{ class: "build", name: "build", files: [], message: "no" }] as const;
  const look = () => {
    const { tip } = run.state.target;
    run.answer(run.running("check")[0]!, { is: "checked", tip, report, problems });
  };
  run.landRed(["build"]);
  run.landRed(["build"]);
  look();
  look();
  assert.ok(run.state.repair.givenUp);
  assert.deepEqual(run.candidate(), ["t.2"]);
  const { accept } = run.brief("land");
  const verdict = judgeGate(report, accept);
  assert.ok(!verdict.ok);
  run.landRed(verdict.failures);
  run.landRed(verdict.failures);
  look();
  const [retried, ...others] = run.events("task.retried");
  assert.deepEqual([retried?.task, retried?.charge, others.length], ["t.2", "refused", 0]);
  assert.match(retried!.failure.message, /nobody can tell .*: build: cannot be judged: .* has no name$/);
  assert.match(retried!.failure.next!, /make the gate run again/);
});
