/** Tests when a run halts for an account that is rate limited. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { failure } from "../core/failure.ts";
import { evolve } from "../core/log/evolve.ts";
import { defaultPolicy, type Policy } from "../core/rules/policy.ts";
import { nothingSeen, see } from "../core/view/view.ts";
import { failureOf, Halting } from "./halt.ts";

const HOUR = 3_600_000;

/** Two tasks are ready, and the only account is rate limited until then. */
function limited(until: number) {
  const run = CoreRun.planned([task("a"), task("b")]);
  const { state } = nothingSeen();
  for (const event of run.log) see({ state, story: nothingSeen().story }, event);
  const why = failure("quota", "429");
  evolve(state, { type: "account.parked", account: "agent", until, failure: why, at: run.now });
  return { state, now: run.now };
}

type Rules = { readonly maxWaitMs: number; readonly now: number; readonly policy?: Policy };

function halting(
  state: ReturnType<typeof limited>["state"],
  { maxWaitMs, now, policy = defaultPolicy }: Rules,
) {
  let isAtWork = false;
  let stops = 0;
  const run = { state, isAtWork: () => isAtWork, stopGently: () => (stops += 1) };
  const halts = new Halting(run, { policy, maxWaitMs, now: () => now });
  const work = (is: boolean) => {
    isAtWork = is;
  };
  return { halts, work, stops: () => stops };
}

function haltOf(state: ReturnType<typeof limited>["state"], rules: Rules) {
  const { halts } = halting(state, rules);
  halts.heard();
  halts.watched();
  return halts.halt;
}

describe("a run whose only account is rate limited", () => {
  it("goes by the machine's clock, however that was set", () => {
    const { state, now } = limited(12 * HOUR);
    evolve(state, { type: "clock.jumped", ms: 720 * HOUR, at: now });
    assert.equal(haltOf(state, { maxWaitMs: 12 * HOUR, now: now + 720 * HOUR }), undefined);
    const halt = haltOf(state, { maxWaitMs: 11 * HOUR, now: now + 720 * HOUR });
    assert.equal(halt?.is === "parked" && halt.until, 732 * HOUR);
  });

  it("goes on waiting while the reset is no further away than quota.wait", () => {
    const { state, now } = limited(12 * HOUR);
    assert.equal(haltOf(state, { maxWaitMs: 12 * HOUR, now }), undefined);
  });

  it("stops where the reset is further away, and at once where quota.wait is 0", () => {
    const { state, now } = limited(13 * HOUR);
    const halt = haltOf(state, { maxWaitMs: 12 * HOUR, now });
    assert.deepEqual(halt, { is: "parked", accounts: ["agent"], until: 13 * HOUR });
    assert.equal(haltOf(limited(now + 1).state, { maxWaitMs: 0, now })?.is, "parked");
    const { kind, until, message } = failureOf(halt!);
    assert.deepEqual([kind, until], ["quota", 13 * HOUR]);
    assert.match(message, /^agent is rate limited until 1970-01-01T13:00/);
  });

  it("does not stop while another account can be used", () => {
    const { state, now } = limited(13 * HOUR);
    const accounts = { plan: ["agent"], work: ["agent", "other"], byAgent: {} } as const;
    assert.equal(haltOf(state, { policy: { ...defaultPolicy, accounts }, maxWaitMs: 0, now }), undefined);
  });

  it("stops once, after its agents have come to where they wait, and after its mailbox was heard", () => {
    const { state, now } = limited(13 * HOUR);
    const { halts, work, stops } = halting(state, { maxWaitMs: 0, now });
    halts.watched();
    assert.equal(stops(), 0, "somebody may have cancelled it");
    work(true);
    halts.heard();
    assert.equal(stops(), 0, "a turn that was paid for is not cut off");
    work(false);
    halts.look();
    halts.look();
    assert.equal(stops(), 1);
  });
});

describe("a run that only a person can help", () => {
  it("stops for a set-up that failed, also while agents are at work", () => {
    const { state, now } = limited(HOUR);
    const why = failure("setup", "npm test cannot be run");
    evolve(state, { type: "setup.failed", failure: why, at: now });
    const { halts, work, stops } = halting(state, { maxWaitMs: 12 * HOUR, now });
    work(true);
    halts.heard();
    assert.equal(stops(), 0, "that is what an earlier engine met: this one looks again");
    halts.watched();
    assert.equal(stops(), 1);
    assert.deepEqual(halts.halt, { is: "setup", failure: why });
  });

  it("stops for a key that was refused", () => {
    const { state, now } = limited(HOUR);
    const why = failure("authentication", "401: invalid x-api-key");
    evolve(state, { type: "account.refused", account: "anthropic", failure: why, at: now });
    const halt = haltOf(state, { maxWaitMs: 12 * HOUR, now });
    assert.deepEqual(halt, { is: "refused", account: "anthropic", failure: why });
    assert.equal(failureOf(halt!), why);
  });
});
