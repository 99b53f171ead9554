/** Tests checks of the target: their interval, repairs of a red target, and giving up. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { judgeGate } from "../gate.ts";

const red = (...failures: string[]) => ({
  commands: [{ name: "test", green: failures.length === 0, failures }],
});

/** A run with work going on, whose target has turned red. */
function redTarget(failures: readonly string[] = ["test: x"], changes = {}) {
  const run = CoreRun.planned([task("a"), task("b")], changes);
  run.say({ type: "base-moved", commit: "b2" });
  run.checkRed(failures);
  return run;
}

describe("the interval of sweeps", () => {
  /** The time from the last check to the next one, after something has landed. */
  const nextSweep = (run: CoreRun) => {
    const from = run.now;
    while (run.running("check").length === 0) run.wait(1_000);
    return run.now - from;
  };
  const busy = () =>
    CoreRun.planned(
      Array.from({ length: 8 }, (_, i) => task(`a${i}`)),
      { root: { replanAfter: 99 } },
    );

  test("is a minute until the target was green three times in a row, then five", () => {
    const run = busy();
    const waits: number[] = [];
    for (let n = 1; n <= 4; n += 1) {
      run.finish(`t.${n}`);
      waits.push(nextSweep(run));
      run.check();
    }
    assert.deepEqual(waits, [MINUTE, MINUTE, 5 * MINUTE, 5 * MINUTE]);
  });

  test("does not look at what it knows: without news there is no sweep", () => {
    const run = busy();
    run.wait(30 * MINUTE);
    assert.deepEqual(run.running("check"), []);
  });

  test("is a minute while the target is red", () => {
    const run = redTarget();
    assert.deepEqual(run.running("check"), []);
    assert.equal(nextSweep(run), MINUTE);
  });

  test("is no interval at all when the base has moved", () => {
    const run = busy();
    run.say({ type: "base-moved", commit: "b2" });
    assert.deepEqual(run.running("check"), ["check#2"]);
  });

  test("begins anew with one red: three greens are needed again", () => {
    const run = busy();
    run.finish("t.1");
    for (let n = 0; n < 3; n += 1) {
      run.say({ type: "base-moved", commit: `b${n}` });
      run.check();
    }
    run.say({ type: "base-moved", commit: "bad" });
    run.check(["test: x"]);
    run.check();
    run.finish("t.2");
    assert.equal(nextSweep(run), MINUTE);
  });
});

describe("a target that is red", () => {
  test("once is under suspicion: nothing lands, nothing is repaired, and it is looked at again at once", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.say({ type: "base-moved", commit: "b2" });
    run.check(["test: x"]);
    run.work("t.1");
    assert.deepEqual(run.candidate(), []);
    assert.deepEqual(run.running("check"), ["check#3"]);
    assert.deepEqual(run.events("repair.planned"), []);
    run.check();
    assert.deepEqual(run.candidate(), ["t.1"]);
  });

  test("twice gets fix tasks of priority 1 that go before everything else", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c", { priority: 1 })], {
      capacity: { work: 1 },
    });
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: x"]);
    const fix = run.task("t.4");
    assert.deepEqual([fix.spec.priority, fix.spec.scope, fix.spec.repairs], [1, ["broken.ts"], ["test: x"]]);
    run.work("t.3");
    assert.deepEqual(run.running("work"), ["work:t.4#1"]);
  });

  test("does not get a second fix for what is being fixed", () => {
    const run = redTarget();
    for (let n = 0; n < 5; n += 1) {
      run.wait(MINUTE);
      run.check(["test: x"]);
    }
    assert.equal(run.state.tasks.size, 4);
  });

  test("is mended for what failed both times: a test that failed once is not for mending", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "base-moved", commit: "b2" });
    run.check(["test: x", "test: moody"]);
    run.check(["test: x", "test: shy"]);
    assert.deepEqual(run.task("t.2").spec.repairs, ["test: x"]);
  });

  test("lets ordinary tasks wait, and the fix land, though others still fail", () => {
    const run = redTarget(["test: x", "test: y"]);
    run.work("t.1");
    assert.deepEqual(run.candidate(), []);
    run.work("t.3");
    assert.deepEqual(run.candidate(), ["t.3"], "alone");
    const { accept } = run.brief("land");
    assert.ok(accept.is === "no-worse");
    assert.deepEqual(judgeGate(red("x"), accept), {
      ...{ ok: true, proof: "red-to-red" },
      compared: ["test: no new failure beside 1 failure"],
    });
    assert.deepEqual(judgeGate(red("x", "y"), accept).ok, false, "it heals nothing");
    assert.deepEqual(judgeGate(red("z"), accept).ok, false, "it breaks something new");
    run.land();
    assert.equal(run.events("batch.landed").at(-1)!.proof, "red-to-red");
    assert.deepEqual(run.candidate(), [], "the new tip is looked at first");
    run.check();
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.deepEqual(run.brief("land").accept, { is: "green" });
  });

  test("refuses a fix that heals nothing, as the same task", () => {
    const run = redTarget();
    run.work("t.3");
    run.landRed(["test: x"]);
    run.landRed(["test: x"]);
    if (run.running("check").length > 0) run.check(["test: x"]);
    assert.equal(run.task("t.3").tries.refused, 1);
    assert.ok(run.running("work").includes("work:t.3#2"));
    assert.equal(run.state.tasks.size, 4, "no fix of a fix");
  });
});

describe("a target beyond repair", () => {
  /** Every round of fixes fails. */
  function hopeless() {
    const run = redTarget();
    run.work("t.1");
    run.work("t.2");
    for (let round = 1; round <= 3; round += 1) {
      run.failForGood(`t.${round + 2}`);
      run.wait(MINUTE);
      run.check(["test: x"]);
    }
    return run;
  }

  test("is given up after three rounds that mended nothing", () => {
    const run = hopeless();
    assert.equal(run.events("repair.planned").length, 3);
    assert.deepEqual(
      run.events("repair.given-up").map((e) => e.failures),
      [["test: x"]],
    );
  });

  test("takes ordinary tasks again, one by one, if they make nothing worse", () => {
    const run = hopeless();
    assert.deepEqual(run.candidate(), ["t.1"]);
    const { accept } = run.brief("land");
    assert.ok(accept.is === "no-worse");
    assert.ok(judgeGate(red("x"), accept).ok);
    run.land();
    assert.deepEqual(run.candidate(), []);
    run.check(["test: x"]);
    assert.deepEqual(run.candidate(), ["t.2"]);
  });

  test("is given up also if its fixes never end together: each failure gets one in a round", () => {
    const names = ["test: a", "test: b"];
    const run = CoreRun.planned([task("z")]);
    run.say({ type: "base-moved", commit: "b2" });
    run.check(names, "*");
    run.check(names, "*");
    for (let n = 0; n < 6; n += 1) {
      const [oldest] = run.state.repair.pending;
      run.failForGood(oldest!);
      run.wait(MINUTE);
      run.check(names, "*");
    }
    assert.equal(run.events("repair.planned").length, 3);
    assert.equal(run.events("repair.given-up").length, 1);
  });

  test("is named when the run ends, which is incomplete", () => {
    const run = hopeless();
    run.land();
    run.check(["test: x"]);
    run.land();
    run.check(["test: x"]);
    while (run.isAsked("t")) run.plan("t", []);
    assert.equal(run.closed?.how, "incomplete");
    assert.deepEqual(run.closed!.left, ["the gate fails on the target: test: x"]);
  });

  test("is not given up while the failures become fewer", () => {
    const names = ["test: a", "test: b", "test: c", "test: d", "test: e"];
    const run = redTarget(names);
    for (let round = 1; round <= 4; round += 1) {
      run.failForGood(`t.${round + 2}`);
      run.wait(MINUTE);
      run.check(names.slice(round));
    }
    assert.deepEqual(run.events("repair.given-up"), []);
    assert.ok(run.running("work").includes("work:t.7#1"));
  });

  test("that is green by chance, with nothing mended, is as beyond repair as before", () => {
    const run = hopeless();
    const planned = run.events("repair.planned").length;
    run.say({ type: "base-moved", commit: "b3" });
    run.check();
    run.say({ type: "base-moved", commit: "b4" });
    for (let reds = 0; run.state.target.health !== "red" && reds < 10; reds += 1) run.check(["test: x"]);
    assert.equal(run.state.target.health, "red");
    assert.equal(run.events("repair.planned").length, planned);
    assert.equal(run.events("repair.given-up").length, 2);
  });

  test("is taken up again for another failure, once it was green", () => {
    const run = hopeless();
    run.say({ type: "base-moved", commit: "b3" });
    run.check();
    run.say({ type: "base-moved", commit: "b4" });
    run.checkRed(["test: y"]);
    assert.equal(run.events("repair.planned").length, 4);
  });
});

describe("a check that cannot be made", () => {
  test("is tried again after a wait that grows", () => {
    const run = new CoreRun();
    const at: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      run.checkFailed();
      const from = run.now;
      while (run.running("check").length === 0) run.wait(100);
      at.push(run.now - from);
    }
    assert.ok(
      at.every((wait, i) => i === 0 || wait > at[i - 1]!),
      at.join(),
    );
  });

  const blind = (run: CoreRun) => {
    for (let n = 0; n < 5; n += 1) {
      run.checkFailed();
      if (n < 4) while (run.running("check").length === 0) run.wait(1_000);
    }
  };

  test("does not stop landing for ever: a green candidate is proof enough", () => {
    const run = new CoreRun();
    run.plan("t", [task("a")]);
    run.work("t.1");
    blind(run);
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.deepEqual(run.brief("land").accept, { is: "green" });
  });

  test("does not stop landing for ever on a target under suspicion", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "base-moved", commit: "b2" });
    run.check(["test: x"]);
    run.work("t.1");
    blind(run);
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.deepEqual(run.brief("land").accept, { is: "green" });
  });

  test("does not stop landing for ever on a red target that has moved", () => {
    const run = redTarget(["test: x", "test: y"]);
    run.work("t.1");
    run.finish("t.3");
    blind(run);
    assert.deepEqual(run.candidate(), ["t.1"]);
    assert.deepEqual(run.brief("land").accept, { is: "green" });
  });

  test("lets nobody be blamed without end: the batch whose base it was is refused, with the reason", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    run.landRed();
    run.landRed();
    blind(run);
    const { failure, charge } = run.events("task.retried")[0]!;
    assert.deepEqual([failure.kind, charge], ["repository", "refused"]);
  });

  test("is not charged to anybody when the engine was restarted", () => {
    const run = new CoreRun();
    for (let n = 1; n <= 9; n += 1) run.say({ type: "interrupted", job: `check#${n}` as never });
    assert.deepEqual(run.running("check"), ["check#10"]);
    assert.equal(run.state.target.checkErrors, 0);
  });
});

test("a base that is red from the start is repaired while the planner plans, and ordinary work waits to land", () => {
  const run = new CoreRun();
  run.checkRed();
  run.plan("t", [task("a")]);
  assert.deepEqual(run.running("work").toSorted(), ["work:t.1#1", "work:t.2#1"]);
  run.work("t.2");
  assert.deepEqual(run.candidate(), []);
  run.finish("t.1");
  run.check();
  assert.deepEqual(run.candidate(), ["t.2"]);
});

describe("a red target", () => {
  test("is not looked at again and again while the run is paused", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: x"], "x.ts");
    run.say({ type: "pause" });
    const before = run.events("target.checked").length;
    for (let hour = 0; hour < 8; hour += 1) {
      run.wait(60 * MINUTE);
      if (run.running("check").length > 0) run.checkRed(["test: x"], "x.ts");
    }
    assert.ok(run.events("target.checked").length <= before + 1);
  });

  test("whose failures come and go is given up in the end: a flaky failure is not progress", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "base-moved", commit: "b2" });
    let rounds = 0;
    for (let n = 0; n < 40 && !run.state.repair.givenUp; n += 1) {
      run.checkRed(n % 3 < 2 ? ["test: x", "test: y"] : ["test: x"], "x.ts");
      for (const id of run.state.repair.pending) run.failForGood(id);
      rounds = run.events("repair.planned").length;
      run.wait(2 * MINUTE);
    }
    assert.ok(run.state.repair.givenUp, `${rounds} rounds`);
    assert.ok(rounds <= 8, `${rounds} rounds`);
  });
});

describe("a target that fails more than is named", () => {
  const names = ["a", "b"];
  const many = (more: number) => ({ commands: [{ name: "test", green: false, failures: names, more }] });
  /** Reports a check with these names and `more` unnamed failures, each name in a file of its own. */
  const check = (run: CoreRun, more: number) => {
    const problems = names.map(
      (name) => ({ class: "tests", name: `test: ${name}`, files: [`${name}.ts`], message: "fails" }) as const,
    );
    const [job] = run.running("check");
    run.answer(job!, { is: "checked", tip: run.state.target.tip, report: many(more), problems });
  };
  const redBy = (more: number) => {
    const run = new CoreRun();
    check(run, more);
    check(run, more);
    return run;
  };

  test("refuses a fix with which it fails still more, though every name of them was there before", () => {
    const run = redBy(100);
    run.plan("t", [task("z")]);
    run.work("t.1");
    for (let n = 0; n < 2; n += 1) {
      const verdict = judgeGate(many(101), run.brief("land").accept);
      run.landRed(verdict.ok ? [] : verdict.failures);
    }
    check(run, 100);
    assert.equal(run.task("t.1").tries.refused, 1);
  });

  test("is not given up while they become fewer, whatever their names", () => {
    const run = redBy(100);
    for (let round = 1; round <= 4; round += 1) {
      for (const id of run.running("work").map((job) => job.slice("work:".length, job.indexOf("#"))))
        run.failForGood(id);
      run.wait(MINUTE);
      check(run, 100 - round);
    }
    assert.deepEqual(run.events("repair.given-up"), []);
  });
});
