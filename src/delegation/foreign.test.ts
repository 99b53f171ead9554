/** Tests that executors may answer, throw and share any value without breaking the delegation engine. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aggregateResults, type DelegatedResult } from "./aggregate.ts";
import type { AttemptExecutor, AttemptResult } from "./attempt.ts";
import { DelegationEngine } from "./delegation-engine.ts";

const TASK = { id: "t1", description: "Debug it" };
const throwing = (...names: string[]) => {
  const value = { success: false };
  for (const name of names) {
    Object.defineProperty(value, name, {
      enumerable: true,
      get: () => {
        throw new Error("do not ask");
      },
    });
  }
  return value;
};
const circular = () => {
  const value: object = Object.create(null);
  return Object.assign(value, { self: value });
};

const HOSTILE: Readonly<Record<string, unknown>> = {
  "an object without a prototype": Object.create(null),
  "a symbol": Symbol("s"),
  "a field that throws": throwing("success"),
  "all other fields throw": throwing("output", "error", "duration", "permanent"),
  "an Error as error": { success: false, error: new Error("E") },
  "an error that cannot be shown": { success: false, error: Object.create(null) },
  "a symbol as error": { success: false, error: Symbol("s") },
  "a duration that is text": { success: false, duration: "5" },
  "a duration that is no number": { success: false, duration: Number.NaN },
  "a negative duration": { success: false, duration: -5 },
  "an output that cannot be shown": { success: true, output: circular(), duration: 1 },
  nothing: undefined,
  null: null,
};

const engine = () =>
  new DelegationEngine({
    maxRetries: 1,
    retryDelayMs: 0,
    attemptTimeoutMs: Number.POSITIVE_INFINITY,
    timing: { now: () => 0, sleep: async () => {} },
  });

describe("whatever an executor does", () => {
  for (const [what, value] of Object.entries(HOSTILE)) {
    test(`its result is text and numbers when it answers, throws or keeps ${what}`, async () => {
      for (const executor of [
        () => value as AttemptResult,
        () => Promise.reject(value),
        ({ keep }) => {
          keep(value as string);
          return { success: false, output: "", duration: 1 };
        },
      ] satisfies AttemptExecutor[]) {
        const delegation = engine();
        const outcome = await delegation.executeWithRetry(TASK, executor);
        const { output, duration, error, success } = outcome.result;
        assert.equal(typeof output, "string");
        assert.ok(Number.isFinite(duration) && duration >= 0);
        assert.ok(success || (typeof error === "string" && error !== ""));
        assert.ok(Number.isFinite(aggregateResults([outcome]).totalDuration));
        assert.equal(typeof delegation.contextFor({ dependencies: [TASK.id] }).text, "string");
      }
    });

    test(`results of other origin are summed up with ${what} among them`, () => {
      const odd = { taskId: "odd", subagent: "main", result: value, retries: 0 } as DelegatedResult;
      const fine = { ...odd, result: { success: true, output: "", duration: 7 } };
      const { total, totalDuration, summary } = aggregateResults([odd, fine]);
      assert.equal(total, 2);
      assert.ok(totalDuration === 7 || totalDuration === 8);
      assert.match(summary, /^Completed [12]\/2 tasks/);
    });
  }

  test("the words of an Error are kept, also where text was promised", async () => {
    const answer = { success: false, error: new Error("E") } as unknown as AttemptResult;
    const outcome = await engine().executeWithRetry(TASK, () => answer);
    assert.equal(outcome.result.error, "E");
    assert.match(
      aggregateResults([{ ...outcome, result: answer as never }]).summary,
      /failed after 1 retry: E$/,
    );
  });
});

test("a reason for cancelling that cannot be shown is no reason to reject", async () => {
  const before = await engine().executeWithRetry(TASK, () => new Promise<never>(() => {}), {
    signal: AbortSignal.abort(Object.create(null)),
  });
  assert.match(before.result.error ?? "", /^cancelled: /);
  const giveUp = new AbortController();
  const during = await engine().executeWithRetry(
    TASK,
    () => {
      giveUp.abort(Object.create(null));
      return new Promise<never>(() => {});
    },
    { signal: giveUp.signal },
  );
  assert.match(during.result.error ?? "", /^cancelled: /);
});

test("a shared value that cannot be shown does not keep the dependent from its context", () => {
  const delegation = engine();
  delegation.getSharedContext().set("a", circular()).set("b", "known");
  assert.match(delegation.contextFor({ dependencies: ["a", "b"] }).text, /output of b ---\nknown/);
});
