/** Tests the budget of a run: reserves, real costs, and how the run ends when it is spent. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import type { JobId } from "../job.ts";

const tokens = (n: number) => ({ spent: { tokens: n, microdollars: 0 } });
const many = (n: number) => Array.from({ length: n }, (_, i) => task(`a${i}`));

describe("a budget", () => {
  test("is set aside before a job starts: no more start than can all be paid for", () => {
    const run = CoreRun.planned(many(8), { budget: { maxTokens: 350, reserveTokens: 100 } });
    assert.equal(run.running("work").length, 3);
  });

  test("gives back what a job did not use, and takes what it used too much", () => {
    const run = CoreRun.planned(many(8), { budget: { maxTokens: 300, reserveTokens: 100 } });
    run.work("t.1", tokens(10));
    assert.equal(run.running("work").length, 2);
    run.work("t.2", tokens(0));
    run.work("t.3", tokens(180));
    assert.deepEqual(run.running("work"), ["work:t.4#1"]);
  });

  test("counts money as well as tokens", () => {
    const run = CoreRun.planned(many(8), { budget: { maxMicrodollars: 250, reserveMicrodollars: 100 } });
    assert.equal(run.running("work").length, 2);
  });

  test("of nothing starts nothing: zero is not unlimited", () => {
    const run = new CoreRun({ budget: { maxTokens: 0 } });
    assert.deepEqual(run.running("plan"), []);
    run.check();
    assert.equal(run.closed?.how, "failed");
    assert.match(run.closed!.left.join(), /budget/);
  });

  test("that is spent lets running jobs end and finished work land, then closes and says so", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c")], {
      capacity: { work: 2 },
      budget: { maxTokens: 200, reserveTokens: 100, landingShare: 0 },
    });
    run.work("t.1", tokens(150));
    assert.deepEqual(run.running("work"), ["work:t.2#1"], "it may end, although it was not foreseen");
    run.work("t.2", tokens(100));
    assert.deepEqual(run.running("work"), []);
    run.land();
    run.land();
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.deepEqual(run.closed!.left, [
      "not settled: t.3 (c)",
      "the budget is spent: raise it and start again; the target keeps what landed",
    ]);
    assert.deepEqual(
      ["t.1", "t.2", "t.3"].map((id) => run.is(id)),
      ["done", "done", "open"],
    );
  });

  test("that is spent does not keep a finished fix from healing the target, nor the rest from landing", () => {
    const run = new CoreRun({ capacity: { work: 1 }, budget: { maxTokens: 200, reserveTokens: 100 } });
    run.checkRed();
    run.plan("t", [task("a")]);
    run.work("t.1", tokens(200));
    assert.deepEqual(run.candidate(), ["t.1"]);
    run.land();
    run.check();
    assert.deepEqual(run.closed!.left, [
      "not settled: t.2 (a)",
      "the budget is spent: raise it and start again; the target keeps what landed",
    ]);
  });

  test("that is spent does not keep the second of two fixes from landing after the first", () => {
    const run = new CoreRun({ capacity: { work: 2 }, budget: { maxTokens: 300, reserveTokens: 100 } });
    run.checkRed(["test: x", "test: y"], "*");
    run.plan("t", [task("a")]);
    run.work("t.1", tokens(250));
    run.work("t.2", tokens(50));
    assert.deepEqual(run.events("budget.exhausted").length, 1);
    run.land();
    run.check(["test: y"], "*");
    assert.deepEqual(run.candidate(), ["t.2"]);
  });

  test("that is spent on a red target ends the run, which names both", () => {
    const run = CoreRun.planned([task("a"), task("b")], {
      capacity: { work: 1 },
      budget: { maxTokens: 100, reserveTokens: 100, landingShare: 0 },
    });
    run.say({ type: "base-moved", commit: "b2" });
    run.work("t.1", tokens(100));
    run.landRed();
    run.landRed();
    run.check(["test: x"]);
    run.check(["test: x"]);
    assert.equal(run.closed?.how, "failed");
    assert.match(
      run.closed!.left.join("\n"),
      /the budget is spent: raise it and start again; the target keeps what landed\nthe gate fails on the target: test: x/,
    );
  });

  test("is no reason to stop when nothing more is wanted", () => {
    const run = CoreRun.planned([], { budget: { maxTokens: 100, reserveTokens: 100, landingShare: 0 } });
    run.work("t", tokens(500));
    run.land();
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("counts a cost that is no number as what was set aside, and an unknown price likewise", () => {
    const run = CoreRun.planned([task("a"), task("b")], {
      budget: { maxTokens: 100, reserveTokens: 10, reserveMicrodollars: 1 },
    });
    const before = run.state.spent.tokens;
    run.work("t.1", { spent: { tokens: Number.NaN } });
    run.work("t.2", { spent: { tokens: -1e9, microdollars: Number.POSITIVE_INFINITY } });
    assert.equal(run.state.spent.tokens, before + 20);
    assert.ok(run.state.spent.unpriced >= 2);
  });

  test("that is spent before all is done does not call the goal complete", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c")], {
      capacity: { work: 1 },
      budget: { maxTokens: 100, reserveTokens: 30, reserveMicrodollars: 1 },
    });
    run.work("t.1", { spent: { tokens: 90 } });
    run.land();
    for (let n = 0; n < 5 && !run.closed; n += 1) if (run.running("check").length > 0) run.check();
    assert.equal(run.closed?.how, "incomplete");
    const { state } = run.task("t");
    assert.equal(state.is === "done" && state.handoff.status, "partial");
  });

  test("that is spent while a landing was lost still looks at the target, and closes", () => {
    const run = CoreRun.planned([task("a"), task("b")], {
      capacity: { work: 1 },
      budget: { maxTokens: 100, reserveTokens: 30, reserveMicrodollars: 1 },
    });
    run.work("t.1", { spent: { tokens: 90 } });
    const [land] = run.running("land");
    run.say({ type: "cancel", task: run.task("t.1").id });
    run.say({ type: "interrupted", job: land as JobId });
    assert.equal(run.state.spent.exhausted, true);
    run.check();
    assert.equal(run.closed?.how, "failed");
  });
});
