/** Tests when a run stands still because all that could go on waits for accounts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { type Failure, failure } from "../failure.ts";
import { emptyStory, tell } from "../view/story.ts";
import { viewOf } from "../view/view.ts";
import { waitOf } from "../view/view-wait.ts";
import { isParked } from "./standstill.ts";

const HOUR = 60 * MINUTE;
const quota = (account: string, until: number): Failure => ({
  ...failure("quota", "no more for today", "wait, or name a fallback"),
  account,
  until,
});
const wrong = (account: string): Failure => ({ ...failure("authentication", "the key is wrong"), account });
const parked = (run: CoreRun) => isParked(run.state, run.policy);
const viewIn = (run: CoreRun) => {
  const story = emptyStory();
  for (const event of run.log) tell(story, event);
  return viewOf({ state: run.state, story });
};

describe("a run whose account is parked", () => {
  test("stands still once nothing lands, checks or works on another account, and says until when", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.work("t.1");
    run.answer("work:t.2#1", { is: "failed", failure: quota("agent", 9 * HOUR) });
    assert.equal(parked(run), undefined, "something is landing");
    run.land();
    assert.equal(parked(run), undefined, "the target is to be looked at again");
    run.wait(10 * MINUTE);
    run.check();
    assert.deepEqual(parked(run), { accounts: ["agent"], until: 9 * HOUR });
    assert.deepEqual(waitOf(run.state, run.policy, run.now), {
      what: "the rate limit of agent resets",
      until: 9 * HOUR,
    });
    run.wait(9 * HOUR - run.now);
    assert.equal(parked(run), undefined, "it is at work again");
  });

  test("stands still also while jobs are running that can only wait", () => {
    const run = CoreRun.planned([task("a")]);
    assert.equal(parked(run), undefined);
    run.say({ type: "account-refused", account: "agent", failure: quota("agent", 9 * HOUR) });
    assert.deepEqual(parked(run), { accounts: ["agent"], until: 9 * HOUR });
    assert.equal(viewIn(run).running[0]?.parkedUntil, 9 * HOUR);
  });

  test("does not while somebody is at work on another account, or will be", () => {
    const run = CoreRun.planned([task("a"), task("b", { agent: "painter" })], {
      accounts: { plan: ["x"], work: ["x"], byAgent: { painter: ["y"] } },
    });
    run.answer("work:t.1#1", { is: "failed", failure: quota("x", 9 * HOUR) });
    assert.equal(parked(run), undefined);
    run.fail("work", "t.2", "agent-unreachable");
    assert.deepEqual(run.running("work"), []);
    assert.equal(parked(run), undefined, "it is tried again in a moment");
  });

  test("does not look at a red target again and again, which nobody could mend", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed();
    assert.deepEqual(run.running("work").toSorted(), ["work:t.1#1", "work:t.2#1"]);
    for (const job of run.running("work"))
      run.answer(job, { is: "failed", failure: quota("agent", 9 * HOUR) });
    assert.deepEqual(parked(run), { accounts: ["agent"], until: 9 * HOUR });
    const looks = run.state.turns.check;
    run.wait(9 * HOUR - 1);
    assert.equal(run.state.turns.check, looks);
    run.wait(1);
    assert.equal(run.running("work").length, 2);
  });

  test("whose budget is spent stands still for what may still be paid for", () => {
    const run = CoreRun.planned([task("a"), task("b", { agent: "painter" })], {
      accounts: { plan: ["x"], work: ["x"], byAgent: { painter: ["y"] } },
      capacity: { work: 1 },
      budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0.3 },
    });
    run.work("t.1", { spent: { tokens: 690 } });
    run.land([{ task: run.task("t.1").id, files: ["a.ts"], against: "target" }]);
    run.answer("work:t.1#2", { is: "failed", failure: quota("x", 9 * HOUR) });
    assert.deepEqual(parked(run), { accounts: ["x"], until: 9 * HOUR });
  });

  test("does not while it waits for a person, or is over", () => {
    const run = CoreRun.planned([task("a")]);
    run.answer("work:t.1#1", { is: "failed", failure: quota("agent", 9 * HOUR) });
    assert.ok(parked(run));
    run.say({ type: "pause" });
    assert.equal(parked(run), undefined);
    run.say({ type: "resume" });
    assert.ok(parked(run));
    run.say({ type: "cancel" });
    assert.equal(parked(run), undefined);
  });

  test("shows it, in words", () => {
    const run = CoreRun.planned([task("a")]);
    run.answer("work:t.1#1", { is: "failed", failure: quota("agent", 9 * HOUR) });
    assert.deepEqual(viewIn(run).accounts, [
      {
        account: "agent",
        is: "parked",
        until: 9 * HOUR,
        reason: "no more for today",
        next: "wait, or name a fallback",
      },
    ]);
  });

  test("that ends for want of money says what its tasks were waiting for", () => {
    const run = CoreRun.planned([task("a"), task("b")], {
      capacity: { work: 1 },
      budget: { maxTokens: 100, reserveTokens: 50, landingShare: 0 },
    });
    const spent = { tokens: 90, microdollars: 0 };
    run.answer("work:t.1#1", { is: "failed", failure: quota("agent", 9 * HOUR) }, spent);
    assert.match(run.closed!.left.join("\n"), /waits for the quota of agent until 1970-01-01T09:00:00/);
  });
});

describe("a run whose key is refused", () => {
  test("stands still until a person has helped, and says so", () => {
    const run = CoreRun.planned([task("a")]);
    run.answer("work:t.1#1", { is: "failed", failure: wrong("agent") });
    assert.deepEqual(parked(run), { accounts: ["agent"] });
    assert.deepEqual(waitOf(run.state, run.policy, run.now), {
      what: "the key of agent was refused; fix it, then resume: the key is wrong",
    });
    assert.deepEqual(viewIn(run).accounts, [{ account: "agent", is: "refused", reason: "the key is wrong" }]);
  });
});

describe("a quiet job", () => {
  test("is shown until it gives a sign, or ends; nothing else follows from it", () => {
    const run = CoreRun.planned([task("a")]);
    const [job] = [...run.state.running.keys()];
    const quiet = (ms: number) => run.say({ type: "quiet", job: job!, ms }).map(({ type }) => type);
    assert.deepEqual(quiet(5 * MINUTE), ["job.quiet"]);
    assert.equal(viewIn(run).running[0]?.quietMs, 5 * MINUTE);
    quiet(0);
    assert.equal(viewIn(run).running[0]?.quietMs, undefined);
    const [copying] = run.say({ type: "quiet", job: job!, ms: 2_000, doing: "copying" });
    assert.equal(copying?.type === "job.quiet" && copying.doing, "copying");
    quiet(10 * MINUTE);
    run.work("t.1");
    assert.deepEqual(quiet(20 * MINUTE), [], "it has ended");
    assert.equal(run.events("task.handed-off").length, 1);
  });

  test("for a time that is no number is not heard", () => {
    const run = CoreRun.planned([task("a")]);
    const [job] = [...run.state.running.keys()];
    assert.deepEqual(run.say({ type: "quiet", job: job!, ms: Number.NaN }), []);
  });
});
