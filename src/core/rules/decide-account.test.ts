/** Tests rate limits and refused keys: which jobs wait, until when, and what is charged. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { type Failure, failure } from "../failure.ts";
import type { JobId, Outcome } from "../job.ts";
import { replay } from "../log/evolve.ts";
import { due } from "./due.ts";
import { parkedAccounts, refusedAccounts } from "./governor.ts";

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const many = (n: number) => Array.from({ length: n }, (_, i) => task(`a${i + 1}`));
const why = (kind: "quota" | "authentication", account?: string, until?: number): Failure => ({
  ...failure(kind, kind === "quota" ? "no more for today" : "the key is wrong"),
  ...(account !== undefined && { account }),
  ...(until !== undefined && { until }),
});
const failed = (failure: Failure): Outcome => ({ is: "failed", failure });
const TWO = { accounts: { plan: ["p"], work: ["w"], byAgent: {} } } as const;

describe("a quota that is used up", () => {
  test("parks its account until the reset: nothing is started meanwhile, and everything then", () => {
    const run = CoreRun.planned(many(20), { capacity: { work: 20 } });
    for (let n = 1; n <= 20; n += 1) run.answer(`work:t.${n}#1`, failed(why("quota", "agent", HOUR)));
    assert.equal(run.events("account.parked").length, 1, "once for all of them");
    assert.deepEqual(run.running("work"), []);
    const started = run.events("job.started").length;
    run.wait(HOUR - 1);
    assert.equal(run.events("job.started").length, started);
    run.wait(1);
    assert.equal(run.running("work").length, 20);
  });

  test("is charged to nobody: of all counters only that of the attempts is higher", () => {
    const run = CoreRun.planned(many(1));
    const before = run.task("t.1").tries;
    for (let n = 0; n < 30; n += 1) {
      run.fail("work", "t.1", "quota");
      run.wait(parkedAccounts(run.state)[0]!.until - run.now);
    }
    assert.deepEqual(run.task("t.1").tries, { ...before, attempts: 31 });
  });

  test("does not count against a planner, whose last mistakes it still hears of", () => {
    const run = CoreRun.green();
    run.plan("t", [task("a", { after: ["nobody"] })]);
    const { rejected } = run.task("t");
    assert.ok(rejected.length > 0);
    for (let n = 0; n < 30; n += 1) {
      run.fail("plan", "t", "quota");
      run.wait(parkedAccounts(run.state)[0]!.until - run.now);
    }
    assert.deepEqual(run.task("t").rejected, rejected);
    assert.equal(run.task("t").tries.planErrors, 1);
    assert.equal(run.task("t").tries.unreachable, 0);
  });

  test("stops only those who share the account, and nothing that lands", () => {
    const run = CoreRun.planned(many(3), { ...TWO, capacity: { work: 2 } });
    run.work("t.1");
    run.answer("work:t.2#1", failed(why("quota", "w", HOUR)));
    assert.deepEqual(run.running("land"), ["land#1"]);
    run.land();
    assert.equal(run.is("t.1"), "done");
    run.say({ type: "steer", message: "hurry" });
    run.work("t.3");
    assert.ok(run.isAsked("t"), "its planner has another account");
  });

  test("lets a fallback take over", () => {
    const run = CoreRun.planned(many(1), { accounts: { plan: ["w"], work: ["w", "f"], byAgent: {} } });
    run.answer("work:t.1#1", failed(why("quota", "w", HOUR)));
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
  });

  test("of a fallback that was never tried does not make a task start over and over", () => {
    const run = CoreRun.planned(many(1), { accounts: { plan: ["w"], work: ["w", "f"], byAgent: {} } });
    run.answer("work:t.1#1", failed(why("quota", "w", HOUR)));
    run.answer("work:t.1#2", failed(why("quota", "w", HOUR)));
    assert.deepEqual(run.running("work"), [], "it knows no other account, whatever is configured");
    run.wait(HOUR);
    assert.deepEqual(run.running("work"), ["work:t.1#3"]);
    assert.equal(run.task("t.1").tries.unreachable, 0);
  });

  test("of an account that is none of its own keeps a task waiting until that one wakes", () => {
    const run = CoreRun.planned(many(2), { capacity: { work: 1 } });
    run.answer("work:t.1#1", failed(why("quota", "elsewhere", HOUR)));
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
    run.finish("t.2");
    assert.deepEqual(run.running("work"), []);
    run.wait(HOUR);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
  });

  test("takes the later of two resets, and is not shortened by a sooner one", () => {
    const run = CoreRun.planned(many(3));
    run.answer("work:t.1#1", failed(why("quota", "agent", 2 * HOUR)));
    run.answer("work:t.2#1", failed(why("quota", "agent", HOUR)));
    assert.equal(parkedAccounts(run.state)[0]?.until, 2 * HOUR);
    run.answer("work:t.3#1", failed(why("quota", "agent", 3 * HOUR)));
    const [parked] = parkedAccounts(run.state);
    assert.equal(parked?.until, 3 * HOUR);
    assert.equal(parked?.times, 1, "it is one and the same trouble");
  });

  test("without a reset is waited for longer and longer, up to an hour, until a job comes to something", () => {
    const run = CoreRun.planned(many(2), { capacity: { work: 1 } });
    const waits = Array.from({ length: 9 }, () => {
      const at = run.now;
      run.fail("work", "t.1", "quota");
      const { until } = parkedAccounts(run.state)[0]!;
      run.wait(until - at);
      return until - at;
    });
    assert.ok(waits[0]! >= 0.75 * MINUTE && waits[0]! <= MINUTE, `${waits}`);
    for (let n = 1; n < 5; n += 1) assert.ok(waits[n]! > waits[n - 1]!, `${waits}`);
    assert.ok(waits.at(-1)! <= HOUR);
    run.work("t.1");
    const at = run.now;
    run.fail("work", "t.2", "quota");
    assert.ok(parkedAccounts(run.state)[0]!.until - at <= MINUTE);
  });

  test("with a reset in the past, or in ten years, is bounded", () => {
    const run = CoreRun.planned(many(1));
    run.now = DAY;
    run.fail("work", "t.1", "quota");
    const past = CoreRun.planned(many(1));
    past.now = DAY;
    past.answer("work:t.1#1", failed(why("quota", "agent", DAY - 1)));
    assert.equal(parkedAccounts(past.state)[0]?.until, parkedAccounts(run.state)[0]?.until);
    const far = CoreRun.planned(many(1));
    far.answer("work:t.1#1", failed(why("quota", "agent", 3_650 * DAY)));
    assert.equal(parkedAccounts(far.state)[0]?.until, 8 * DAY);
    const odd = CoreRun.planned(many(1));
    odd.answer("work:t.1#1", failed(why("quota", "agent", Number.NaN)));
    assert.ok(parkedAccounts(odd.state)[0]!.until <= MINUTE);
  });

  test("whose reset is always a moment away is not asked again every moment", () => {
    const run = CoreRun.planned(many(1));
    for (let n = 0; n < 8; n += 1) {
      const attempt = run.task("t.1").tries.attempts;
      run.answer(`work:t.1#${attempt}`, failed(why("quota", "agent", run.now + 1)));
      run.wait(parkedAccounts(run.state)[0]!.until - run.now);
    }
    assert.ok(run.now > HOUR, `${run.now}`);
  });

  test("counts also where the job that found it had been given up", () => {
    const run = CoreRun.planned(many(1));
    run.wait(run.policy.leaseMs.work);
    assert.deepEqual(run.running("work"), []);
    const facts = run.answer("work:t.1#1", failed(why("quota", "agent", 5 * HOUR)));
    assert.deepEqual(
      facts.map(({ type }) => type),
      ["job.ended", "account.parked"],
    );
    run.wait(HOUR);
    assert.deepEqual(run.running("work"), []);
  });

  test("is nobody's business once its job is unknown", () => {
    const run = CoreRun.planned(many(1));
    assert.deepEqual(run.answer("work:t.1#9", failed(why("quota", "agent", HOUR))), []);
  });
});

describe("a job that waits for its account", () => {
  const lease = (run: CoreRun, job: string) => run.state.running.get(job as JobId)?.until;

  test("has as much of its lease left afterwards as it had before", () => {
    const run = CoreRun.planned(many(2));
    run.wait(10 * MINUTE);
    run.say({ type: "account-refused", account: "agent", failure: why("quota", "agent", 5 * HOUR) });
    assert.equal(lease(run, "work:t.1#1"), run.policy.leaseMs.work + 5 * HOUR - 10 * MINUTE);
    run.wait(5 * HOUR - 10 * MINUTE);
    assert.equal(run.running("work").length, 2);
    run.wait(50 * MINUTE - 1);
    assert.equal(run.running("work").length, 2);
    run.wait(1);
    assert.equal(run.running("work").length, 0, "then it has had its time");
  });

  test("is given the time once, however many say so, and more if it takes longer", () => {
    const run = CoreRun.planned(many(1));
    const say = (until: number) =>
      run.say({ type: "account-refused", account: "agent", failure: why("quota", "agent", until) });
    say(2 * HOUR);
    say(2 * HOUR);
    assert.equal(lease(run, "work:t.1#1"), 3 * HOUR);
    run.wait(HOUR);
    say(4 * HOUR);
    assert.equal(lease(run, "work:t.1#1"), 5 * HOUR);
  });

  test("is given none while another of its accounts can be called", () => {
    const run = CoreRun.planned(many(1), { accounts: { plan: ["w"], work: ["w", "f"], byAgent: {} } });
    run.say({ type: "account-refused", account: "w", failure: why("quota", "w", 5 * HOUR) });
    assert.equal(lease(run, "work:t.1#1"), HOUR);
    run.say({ type: "account-refused", account: "f", failure: why("quota", "f", 2 * HOUR) });
    assert.equal(lease(run, "work:t.1#1"), 3 * HOUR);
  });

  test("keeps its time through a replay, and a landing has none to gain", () => {
    const run = CoreRun.planned(many(2));
    run.work("t.1");
    run.say({ type: "account-refused", account: "agent", failure: why("quota", "agent", 5 * HOUR) });
    assert.deepEqual(replay(run.log).running, run.state.running);
    assert.deepEqual(
      run.events("job.extended").map(({ job }) => job),
      ["work:t.2#1"],
    );
  });
});

describe("a key that is refused", () => {
  test("stops those who need it until somebody says resume, also where nothing is paused", () => {
    const run = CoreRun.planned(many(2));
    run.answer("work:t.1#1", failed(why("authentication", "agent")));
    run.answer("work:t.2#1", failed(why("authentication", "agent")));
    assert.equal(run.events("account.refused").length, 1);
    run.wait(30 * DAY);
    assert.deepEqual(run.running("work"), []);
    assert.equal(refusedAccounts(run.state)[0]?.account, "agent");
    assert.equal(due(run.state, run.policy, run.now).deadline, undefined, "nobody polls");
    const facts = run.say({ type: "resume" });
    assert.deepEqual(facts[0], { type: "account.woken", account: "agent", at: run.now });
    assert.equal(run.running("work").length, 2);
    assert.deepEqual(run.task("t.1").tries.lost + run.task("t.1").tries.failed, 0);
  });

  test("stays refused whatever its quota is, and resume leaves a quota alone", () => {
    const run = CoreRun.planned(many(2), TWO);
    run.say({ type: "account-refused", account: "w", failure: why("authentication", "w") });
    run.say({ type: "account-refused", account: "w", failure: why("quota", "w", HOUR) });
    run.say({ type: "account-refused", account: "p", failure: why("quota", "p", HOUR) });
    run.say({ type: "resume" });
    assert.deepEqual(refusedAccounts(run.state), []);
    assert.deepEqual(
      parkedAccounts(run.state).map(({ account }) => account),
      ["p"],
    );
  });

  test("of an account that is none of its own ends a task after enough tries", () => {
    const run = CoreRun.planned(many(1), { retry: { maxUnreachable: 2 } });
    for (let n = 1; n <= 3; n += 1) {
      run.answer(`work:t.1#${n}`, failed(why("authentication", "elsewhere")));
      run.wait(HOUR);
    }
    assert.equal(run.is("t.1"), "failed");
  });
});

test("a report of anything else about an account changes nothing", () => {
  const run = CoreRun.planned(many(1));
  const facts = run.say({
    type: "account-refused",
    account: "agent",
    failure: failure("agent-unreachable", "x"),
  });
  assert.deepEqual(facts, []);
});

describe("a machine's clock that is set", () => {
  const parked = (run: CoreRun) => parkedAccounts(run.state)[0]?.until;

  test("wakes an account at the moment that was named, by what the clock shows then", () => {
    const run = CoreRun.planned(many(1));
    run.answer("work:t.1#1", failed(why("quota", "agent", 5 * HOUR)));
    run.say({ type: "clock-jumped", ms: 2 * HOUR });
    assert.equal(parked(run), 3 * HOUR);
    run.say({ type: "clock-jumped", ms: -3 * HOUR });
    assert.equal(parked(run), 6 * HOUR);
    run.say({ type: "clock-jumped", ms: 30 * DAY });
    run.wait(0);
    assert.equal(parked(run), undefined);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
  });

  test("keeps nobody waiting for longer than an account is believed", () => {
    const run = CoreRun.planned(many(1));
    run.answer("work:t.1#1", failed(why("quota", "agent", 5 * HOUR)));
    run.say({ type: "clock-jumped", ms: -30 * DAY });
    assert.equal(parked(run), run.policy.quota.maxUntilMs);
  });

  test("changes nothing about a wait that was said as a length of time, or was not said", () => {
    for (const [reset, ms] of [
      [{ until: 5 * HOUR, waitMs: 5 * HOUR }, 5 * HOUR],
      [{}, MINUTE],
    ] as const) {
      const run = CoreRun.planned(many(1));
      run.answer("work:t.1#1", failed({ ...why("quota", "agent"), ...reset }));
      const until = parked(run)!;
      assert.ok(Math.abs(until - ms) < ms / 2);
      for (const jump of [30 * DAY, -60 * DAY]) run.say({ type: "clock-jumped", ms: jump });
      assert.equal(parked(run), until);
    }
  });

  test("is told by others in its own time: a reset, and a length of time", () => {
    for (const reset of [
      { until: 30 * DAY + HOUR },
      { until: 30 * DAY + HOUR, waitMs: HOUR },
      { until: 60 * DAY, waitMs: HOUR }, // The clock is set back before the answer is taken in.
    ]) {
      const run = CoreRun.planned(many(1));
      run.say({ type: "clock-jumped", ms: 30 * DAY });
      run.answer("work:t.1#1", failed({ ...why("quota", "agent"), ...reset }));
      assert.equal(parked(run), HOUR);
    }
  });

  test("gives a job that can only wait the time until the reset, no more and no less", () => {
    const run = CoreRun.planned(many(1));
    const lease = () => run.state.running.get("work:t.1#1" as JobId)!.until;
    assert.equal(lease(), HOUR);
    run.say({ type: "account-refused", account: "agent", failure: why("quota", "agent", 5 * HOUR) });
    run.say({ type: "clock-jumped", ms: 2 * HOUR });
    assert.equal(lease(), HOUR + 3 * HOUR);
    run.say({ type: "clock-jumped", ms: -4 * HOUR });
    assert.equal(lease(), HOUR + 7 * HOUR);
    run.say({ type: "clock-jumped", ms: 30 * DAY });
    assert.equal(lease(), HOUR);
    assert.deepEqual(replay(run.log).running, run.state.running);
  });
});
