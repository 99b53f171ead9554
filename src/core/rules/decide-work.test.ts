/** Tests what follows from a worker's result, how often a task is tried, and late answers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import { narrate } from "../view/narrate.ts";

describe("what a worker hands in", () => {
  test("a complete change goes to landing and is done only when it has landed", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    assert.equal(run.is("t.1"), "landing");
    run.land();
    assert.equal(run.is("t.1"), "done");
    assert.deepEqual(run.events("batch.landed")[0]!.members, [{ task: "t.1", attempt: 1 }]);
  });

  test("a complete report is done at once, without a diff and without landing", () => {
    const run = CoreRun.planned([task("a", { delivers: "report" })]);
    run.work("t.1", { summary: "it is so" });
    assert.equal(run.is("t.1"), "done");
    assert.equal(run.events("task.done")[0]!.ended, "answered");
    assert.deepEqual(run.running("land"), []);
    assert.equal(run.brief("plan", "t").news[0]!.summary, "it is so");
  });

  test("an empty change is a failed attempt, and its planner reads that the worker's word was not verified", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1", { filesChanged: [], summary: "the flag is there since v2" });
    assert.equal(run.task("t.1").past[0]!.failure.kind, "empty-change");
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    while (run.is("t.1") === "open") run.work("t.1", { filesChanged: [], summary: "it is there" });
    const [concern] = run.brief("plan", "t").concerns;
    assert.match(concern!.text, /says that it is so already, which is not verified: it is there/);
  });

  test("an empty change is done, unchanged, if its own criterion passes on the tree from before it", () => {
    const checked = task("a", { terms: { criterion: "node check.js" } });
    const run = CoreRun.planned([checked, task("b", { after: ["a"] })]);
    run.work("t.1", { filesChanged: [], isMetBefore: true });
    assert.equal(run.is("t.1"), "done");
    assert.equal(run.events("task.done")[0]!.ended, "unchanged");
    assert.deepEqual(run.running("land"), []);
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("a criterion that is a command of the gate proves nothing about an empty change", () => {
    const run = CoreRun.planned([task("a", { terms: { criterion: "test" } })]);
    assert.deepEqual(
      run.state.target.report.commands.map(({ name }) => name),
      ["test"],
    );
    run.work("t.1", { filesChanged: [], isMetBefore: true });
    assert.equal(run.task("t.1").past[0]!.failure.kind, "empty-change");
  });

  test("nor does one that runs commands of the gate in other words, but a command beside them does", () => {
    for (const [criterion, isProof] of [
      ["npm test", false],
      [" npm  run build && npm test", false],
      ["npm test && grep -q lend README.md", true],
    ] as const) {
      const run = new CoreRun();
      const commands = ["build", "test"].map((name) => ({
        ...{ name, line: `npm run ${name}`, green: true, failures: [] },
      }));
      const { tip } = run.state.target;
      run.answer(run.running("check")[0]!, { is: "checked", tip, report: { commands }, problems: [] });
      run.plan("t", [task("a", { terms: { criterion } })]);
      run.work("t.1", { filesChanged: [], isMetBefore: true });
      assert.equal(run.is("t.1") === "done", isProof, criterion);
    }
  });

  test("a change that leaves its scope is a failed attempt that names the files", () => {
    const run = CoreRun.planned([task("a", { scope: ["a.ts", "lib/"] })], { decompose: { maxDepth: 0 } });
    run.work("t.1", { filesChanged: ["a.ts", "lib/deep/x.ts", "b.ts"] });
    const { kind, message } = run.task("t.1").past[0]!.failure;
    assert.equal(kind, "out-of-scope");
    assert.match(message, /: b\.ts$/);
  });

  test("lock files need no scope, and others can be named", () => {
    const run = CoreRun.planned([task("a")], { sharedFiles: ["CHANGELOG.md"] });
    run.work("t.1", { filesChanged: ["a.ts", "CHANGELOG.md"] });
    assert.equal(run.is("t.1"), "landing");
    const strict = CoreRun.planned([task("a")], { sharedFiles: [] });
    strict.work("t.1", { filesChanged: ["a.ts", "package-lock.json"] });
    assert.equal(strict.task("t.1").past[0]!.failure.kind, "out-of-scope");
  });

  for (const broken of [
    { deletedTests: ["a.test.ts"] },
    { disabledTests: ["a.test.ts: adds"] },
    { forbiddenMarks: ["a.ts:3 @ts-ignore"] },
  ]) {
    test(`a change with ${Object.keys(broken)[0]} breaks a rule, whatever the worker claims`, () => {
      const run = CoreRun.planned([task("a")]);
      run.work("t.1", broken);
      assert.equal(run.task("t.1").past[0]!.failure.kind, "rule-broken");
      assert.match(run.task("t.1").past[0]!.failure.message, /a\.t/);
    });
  }

  test("what is flagged lands, and is a concern, a line of the log and a flag for the proof", () => {
    const run = CoreRun.planned([task("a")], { evidence: { tests: "refuse", marks: "flag" } });
    const flaggedTests = ["skips tests under a condition: a.test.ts:1 it.skipIf"];
    run.work("t.1", { flaggedTests, forbiddenMarks: ["a.ts:3 as any"] });
    const flag = `${flaggedTests[0]}, left a.ts:3 as any`;
    const { state } = run.task("t.1");
    assert.deepEqual(state.is === "landing" && state.handoff.concerns.slice(0, 1), [`to look at: ${flag}`]);
    assert.deepEqual(run.briefOfLanding(run.landing().turn).members[0]!.flags, [flag]);
    const handed = run.log.find(({ type }) => type === "task.handed-off")!;
    assert.equal(narrate(handed, run.state)?.text, `a is ready to land, but ${flag}`);
  });

  test("what was computed wins over what was claimed", () => {
    const run = CoreRun.planned([task("a")]);
    run.wait(5 * MINUTE);
    run.work("t.1", { linesAdded: 7, filesChanged: ["a.ts"], spent: { tokens: 90_000 } });
    run.land();
    assert.deepEqual(run.brief("plan", "t").news[0]!.files, ["a.ts"]);
    const { state } = run.task("t.1");
    assert.ok(state.is === "done");
    const { linesAdded, tokensUsed, durationMs } = state.handoff.metrics;
    assert.deepEqual([linesAdded, tokensUsed, durationMs], [7, 90_000, 5 * MINUTE]);
  });

  for (const status of ["partial", "blocked", "failed"] as const) {
    test(`"${status}" is a failed attempt, and the next one is told what it said`, () => {
      const run = CoreRun.planned([task("a")]);
      run.work("t.1", { status, summary: "the parser is missing" });
      const brief = run.brief("work", "t.1");
      assert.equal(brief.attempt, 2);
      assert.deepEqual(
        brief.past.map((p) => [p.attempt, p.failure.kind, p.handoff?.summary]),
        [[1, "incomplete", "the parser is missing"]],
      );
    });
  }

  test("a worker without end is cut short in the log and in the next brief", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1", { status: "blocked", summary: "x".repeat(1_000_000) });
    assert.ok(JSON.stringify(run.events("task.retried")).length < 10_000);
    assert.ok(JSON.stringify(run.brief("work", "t.1")).length < 10_000);
  });
});

describe("how often a task is tried", () => {
  test("the third failed attempt is the task's failure, and says so", () => {
    const run = CoreRun.planned([task("a")]);
    run.fail("work", "t.1", "agent-failed", "boom");
    run.work("t.1", { status: "partial" });
    assert.equal(run.is("t.1"), "open");
    run.fail("work", "t.1", "agent-failed", "boom");
    assert.equal(run.is("t.1"), "failed");
    assert.deepEqual(run.running("work"), []);
    assert.match(run.brief("plan", "t").news[0]!.summary, /boom/);
  });

  test("a failed attempt is tried again at once, a lost one after a wait that grows", () => {
    const run = CoreRun.planned([task("a")]);
    run.fail("work", "t.1", "agent-failed");
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    const waits: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      run.fail("work", "t.1", "interrupted");
      assert.deepEqual(run.running("work"), []);
      const { retryAt, at } = run.events("task.retried").at(-1)!;
      waits.push(retryAt - at);
      run.wait(retryAt - at - 1);
      assert.deepEqual(run.running("work"), []);
      run.wait(1);
    }
    assert.ok(waits[0]! < waits[1]! && waits[1]! < waits[2]!, waits.join());
    assert.deepEqual(run.running("work"), ["work:t.1#5"]);
  });

  test("five lost attempts in a row are borne, the sixth is not", () => {
    const run = CoreRun.planned([task("a")]);
    for (let n = 0; n < 5; n += 1) {
      run.fail("work", "t.1", n % 2 === 0 ? "timed-out" : "interrupted");
      assert.equal(run.is("t.1"), "open");
      run.wait(10 * MINUTE);
    }
    run.fail("work", "t.1", "interrupted");
    assert.equal(run.is("t.1"), "failed");
  });

  test("an agent that cannot be reached is borne for an hour and a half, then the task has failed", () => {
    const run = CoreRun.planned([task("a")]);
    const began = run.now;
    for (let n = 0; n < 20; n += 1) {
      run.fail("work", "t.1", "agent-unreachable");
      assert.equal(run.is("t.1"), "open");
      run.wait(run.events("task.retried").at(-1)!.retryAt - run.now); // Exactly as long as it has to wait.
    }
    assert.ok(run.now - began > 90 * MINUTE, `${(run.now - began) / MINUTE}`);
    run.fail("work", "t.1", "agent-unreachable");
    assert.equal(run.is("t.1"), "failed");
  });

  test("lost attempts count in a row: an answer of any kind ends the row", () => {
    const run = CoreRun.planned([task("a")]);
    for (let n = 0; n < 4; n += 1) {
      run.fail("work", "t.1", "timed-out");
      run.wait(10 * MINUTE);
    }
    run.fail("work", "t.1", "agent-failed");
    assert.equal(run.task("t.1").tries.lost, 0);
    assert.equal(run.task("t.1").tries.failed, 1);
  });

  test("lost attempts are not failed ones, nor the other way round", () => {
    const run = CoreRun.planned([task("a")]);
    run.fail("work", "t.1");
    run.fail("work", "t.1");
    for (let n = 0; n < 5; n += 1) {
      run.fail("work", "t.1", "timed-out");
      run.wait(10 * MINUTE);
    }
    assert.equal(run.is("t.1"), "open");
  });

  test("progress wipes failed attempts out: work that reached landing starts anew", () => {
    const run = CoreRun.planned([task("a")]);
    run.fail("work", "t.1");
    run.fail("work", "t.1");
    run.work("t.1");
    run.land([{ task: run.task("t.1").id, files: ["a.ts"], against: "target" }]);
    run.fail("work", "t.1");
    run.fail("work", "t.1");
    assert.equal(run.is("t.1"), "open");
    assert.deepEqual(run.running("work"), ["work:t.1#6"]);
  });

  test("an attempt that was interrupted by a restart costs nothing, as often as it happens", () => {
    const run = CoreRun.planned([task("a")]);
    for (let n = 1; n <= 10; n += 1) run.say({ type: "interrupted", job: `work:t.1#${n}` as never });
    assert.deepEqual(run.running("work"), ["work:t.1#11"]);
    const { failed, lost, refused } = run.task("t.1").tries;
    assert.deepEqual([failed, lost, refused], [0, 0, 0]);
  });

  test("the next brief tells of the last three attempts, newest last", () => {
    const run = CoreRun.planned([task("a")], { retry: { maxFailed: 10 } });
    for (const n of [1, 2, 3, 4]) run.fail("work", "t.1", "agent-failed", `boom ${n}`);
    assert.deepEqual(
      run.brief("work", "t.1").past.map((p) => p.failure.message),
      ["boom 2", "boom 3", "boom 4"],
    );
  });
});

test("who says itself that its time was up is not waited for: it has answered", () => {
  const run = CoreRun.planned([task("a")]);
  run.fail("work", "t.1", "timed-out");
  run.wait(MINUTE);
  assert.deepEqual(run.running("work"), ["work:t.1#2"]);
});

describe("an answer that comes late", () => {
  const expired = () => {
    const run = CoreRun.planned([task("a")]);
    run.wait(60 * MINUTE);
    assert.deepEqual(run.running("work"), [], "the lease is over, and the wait is not");
    return run;
  };

  test("is used while the task waits to be tried again", () => {
    const run = expired();
    run.answer("work:t.1#1", run.worked("t.1"));
    assert.deepEqual(run.candidate(), ["t.1"]);
    run.wait(10 * MINUTE);
    assert.deepEqual(run.running("work"), [], "and it is not tried again after all");
    assert.deepEqual(run.events("task.woken"), []);
  });

  test("is used while the task is held back from its next attempt", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: x"], "a.ts");
    run.wait(60 * MINUTE);
    run.wait(10 * MINUTE);
    assert.deepEqual(run.running("work"), ["work:t.2#1"], "the fix has the file now");
    run.answer("work:t.1#1", run.worked("t.1"));
    assert.equal(run.is("t.1"), "landing");
    run.work("t.2");
    assert.deepEqual(run.running("work"), []);
  });

  test("is dropped when a newer attempt has started, and its cost counts once", () => {
    const run = expired();
    run.wait(9 * MINUTE);
    assert.deepEqual(run.running("work"), [], "it is given time to answer after all");
    run.wait(MINUTE);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    for (let n = 0; n < 2; n += 1) run.answer("work:t.1#1", run.worked("t.1"), { tokens: 100 });
    assert.equal(run.is("t.1"), "open");
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    assert.equal(run.state.spent.tokens, 100);
  });

  test("of the attempt before the one that was lost is dropped, too", () => {
    const run = expired();
    run.wait(10 * MINUTE);
    run.wait(run.state.running.get("work:t.1#2" as never)!.until - run.now);
    assert.deepEqual(run.running("work"), [], "the second lease is over as well");
    run.answer("work:t.1#1", run.worked("t.1"));
    assert.equal(run.is("t.1"), "open");
    run.answer("work:t.1#2", run.worked("t.1"));
    assert.equal(run.is("t.1"), "landing");
  });

  test("that only says that it was lost is not counted again", () => {
    const run = expired();
    const lost = { is: "failed", failure: failure("timed-out", "killed") } as const;
    for (let n = 0; n < 3; n += 1) run.answer("work:t.1#1", lost, { tokens: 7 });
    assert.equal(run.task("t.1").tries.lost, 1);
    assert.equal(run.state.spent.tokens, 7);
    run.wait(10 * MINUTE);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
  });

  test("of a cancelled task changes nothing but the bill", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.say({ type: "cancel", task: run.task("t.1").id });
    run.answer("work:t.1#1", run.worked("t.1"), { tokens: 5 });
    assert.equal(run.is("t.1"), "cancelled");
    assert.equal(run.state.spent.tokens, 5);
  });

  test("of a planner is used while it waits to be asked again", () => {
    const run = CoreRun.green();
    run.wait(30 * MINUTE);
    assert.ok(!run.isAsked("t"));
    const answer = {
      scratchpad: "",
      tasks: [task("a")],
      deferred: [],
      addressed: [],
      done: false,
      notes: [],
    };
    run.answer("plan:t#1", { is: "planned", answer });
    assert.deepEqual(run.running("work"), ["work:t.1#1"]);
    assert.equal(run.task("t").tries.planErrors, 0);
  });
});

test("a report that comes twice is heard once, and its cost is counted once", () => {
  const run = CoreRun.planned([task("a")]);
  const outcome = run.worked("t.1");
  run.answer("work:t.1#1", outcome, { tokens: 10, microdollars: 3 });
  assert.deepEqual(run.answer("work:t.1#1", outcome, { tokens: 10, microdollars: 3 }), []);
  assert.deepEqual([run.state.spent.tokens, run.state.spent.microdollars], [10, 3]);
});

test("a price that is not known is counted as unknown, not as nothing", () => {
  const run = CoreRun.planned([task("a")]);
  run.work("t.1", { spent: { tokens: 10 } });
  assert.deepEqual([run.state.spent.tokens, run.state.spent.unpriced], [10, 1]);
});

test("attempts that failed for different reasons are not told as the same one, so many times", () => {
  const run = CoreRun.planned([task("a")]);
  run.work("t.1", { filesChanged: ["elsewhere.ts"] });
  run.work("t.1", { filesChanged: [] });
  run.work("t.1", { filesChanged: ["elsewhere.ts"] });
  const { failure } = run.events("task.failed")[0]!;
  assert.match(failure.message, /elsewhere\.ts \(the last of 3 failed attempts\)$/);
});
