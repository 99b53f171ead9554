/** Tests which account a job may call, and whether a call fits the budgets. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, large, MINUTE, policyWith, task } from "../../../test/support/core-run.ts";
import { type Failure, failure } from "../failure.ts";
import type { JobId } from "../job.ts";
import type { TaskId } from "../task.ts";
import { accountsOf, mayCall, nextAccount, parkedAccounts, refusedAccounts } from "./governor.ts";

const id = (name: string) => name as TaskId;
const job = (name: string) => name as JobId;
const quota = (account: string, until?: number): Failure => ({
  ...failure("quota", "no more"),
  account,
  ...(until !== undefined && { until }),
});

describe("the accounts of a job", () => {
  const policy = policyWith({
    accounts: { plan: ["p"], work: ["w", "f"], byAgent: { painter: ["own"] } },
  });

  test("are those of its kind, or of the specialist that a worker is", () => {
    assert.deepEqual(accountsOf(policy, "plan", {}), ["p"]);
    assert.deepEqual(accountsOf(policy, "work", {}), ["w", "f"]);
    assert.deepEqual(accountsOf(policy, "work", { agent: "painter" }), ["own"]);
    assert.deepEqual(accountsOf(policy, "plan", { agent: "painter" }), ["p"]);
  });

  test("are those of its kind for a specialist that has none, whatever it is called", () => {
    assert.deepEqual(accountsOf(policy, "work", { agent: "unknown" }), ["w", "f"]);
    assert.deepEqual(accountsOf(policyWith({}), "work", { agent: "constructor" }), ["agent"]);
  });

  test("are called in their order, each while those before it cannot be", () => {
    const run = CoreRun.planned([task("a")]);
    assert.deepEqual(nextAccount(run.state, ["w", "f"]), { is: "free", account: "w" });
    run.say({ type: "account-refused", account: "w", failure: quota("w", 10 * MINUTE) });
    assert.deepEqual(nextAccount(run.state, ["w", "f"]), { is: "free", account: "f" });
    run.say({ type: "account-refused", account: "f", failure: quota("f", 5 * MINUTE) });
    assert.deepEqual(nextAccount(run.state, ["w", "f"]), { is: "parked", until: 5 * MINUTE });
    const wrong = { ...failure("authentication", "wrong key"), account: "f" };
    run.say({ type: "account-refused", account: "f", failure: wrong });
    assert.deepEqual(nextAccount(run.state, ["w", "f"]), { is: "parked", until: 10 * MINUTE });
    assert.deepEqual(nextAccount(run.state, ["f"]), { is: "refused", failure: wrong });
    assert.deepEqual(
      parkedAccounts(run.state).map(({ account, until }) => ({ account, until })),
      [{ account: "w", until: 10 * MINUTE }],
    );
    assert.deepEqual(refusedAccounts(run.state), [{ account: "f", failure: wrong }]);
  });
});

describe("a call", () => {
  const none = new Map<JobId, { tokens: number; microdollars: number }>();
  const call = (name: string, tokens: number, microdollars?: number, attempt = 1) => ({
    job: job(`work:${name}#${attempt}`),
    task: id(name),
    most: { tokens, ...(microdollars !== undefined && { microdollars }) },
  });

  test("without limits is never too dear", () => {
    const run = CoreRun.planned([task("a")]);
    assert.equal(mayCall(run.state, run.policy, none, call("t.1", 1e12, 1e12)), undefined);
  });

  test("must fit what is left of the run, with the reserves of all others that run", () => {
    const run = CoreRun.planned([task("a"), task("b")], {
      budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0 },
    });
    assert.equal(mayCall(run.state, run.policy, none, call("t.1", 900)), undefined);
    const refused = mayCall(run.state, run.policy, none, call("t.1", 901));
    assert.equal(refused?.kind, "budget");
    assert.equal(refused?.budget, "run");
  });

  test("counts what jobs have used and the log does not know yet, instead of their reserve", () => {
    const run = CoreRun.planned([task("a"), task("b")], {
      budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0 },
    });
    const live = new Map([
      [job("work:t.1#1"), { tokens: 300, microdollars: 0 }],
      [job("work:t.2#1"), { tokens: 400, microdollars: 0 }],
    ]);
    assert.equal(mayCall(run.state, run.policy, live, call("t.1", 300)), undefined);
    assert.equal(mayCall(run.state, run.policy, live, call("t.1", 301))?.budget, "run");
  });

  test("leaves alone what is kept for landing, unless it is for that", () => {
    const run = CoreRun.planned([task("a")], {
      budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0.5 },
    });
    assert.equal(mayCall(run.state, run.policy, none, call("t.1", 501))?.budget, "run");
    run.work("t.1");
    run.land([{ task: id("t.1"), files: ["a.ts"], against: "target" }]);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    assert.equal(mayCall(run.state, run.policy, none, call("t.1", 1_000, 0, 2)), undefined);
  });

  test("must fit its task and its subtree, and says which it does not", () => {
    const run = CoreRun.planned([large("a"), task("b")], {
      budget: { task: { maxTokens: 500 }, subtree: { maxTokens: 800 }, reserveTokens: 100 },
    });
    run.plan("t.1", [task("x", { scope: ["a/a.ts"] }), task("y", { scope: ["a/b.ts"] })], {
      deferred: [{ files: ["a/c.ts", "a/d.ts"], reason: "later" }],
    });
    assert.deepEqual(run.running("work").toSorted(), ["work:t.1.1#1", "work:t.1.2#1", "work:t.2#1"]);
    const over = mayCall(run.state, run.policy, none, call("t.1.1", 501));
    assert.equal(over?.budget, "task");
    assert.match(over!.message, /^the budget of x is spent$/);
    assert.match(over!.next!, /budget\.task/);
    const live = new Map([[job("work:t.1.2#1"), { tokens: 400, microdollars: 0 }]]);
    const both = mayCall(run.state, run.policy, live, call("t.1.1", 401));
    assert.equal(both?.budget, "subtree");
    assert.match(both!.message, /^the budget of a and everything below it is spent$/);
    assert.equal(mayCall(run.state, run.policy, live, call("t.1.1", 400)), undefined);
    assert.equal(mayCall(run.state, run.policy, live, call("t.2", 500)), undefined, "another subtree");
  });

  test("of the root's planner is limited by the run's budget alone", () => {
    const run = CoreRun.green({ budget: { task: { maxTokens: 1 }, subtree: { maxTokens: 1 } } });
    const wanted = { job: job("plan:t#1"), task: id("t"), most: { tokens: 1_000 } };
    assert.equal(mayCall(run.state, run.policy, none, wanted), undefined);
  });

  test("is limited by money where its price is known, and else by tokens alone", () => {
    const run = CoreRun.planned([task("a")], {
      budget: { maxMicrodollars: 1_000, reserveMicrodollars: 100, landingShare: 0 },
    });
    assert.equal(mayCall(run.state, run.policy, none, call("t.1", 1, 1_001))?.budget, "run");
    assert.equal(mayCall(run.state, run.policy, none, call("t.1", 1, 1_000)), undefined);
    assert.equal(mayCall(run.state, run.policy, none, call("t.1", 1)), undefined);
  });
});
