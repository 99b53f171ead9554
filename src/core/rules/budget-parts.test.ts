/** Tests budgets of tasks and subtrees, the part for landing, and calls that were cut off. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, large, type PolicyChanges, task } from "../../../test/support/core-run.ts";
import { type Failure, failure } from "../failure.ts";
import type { JobId, Spent } from "../job.ts";
import { isSettled, type TaskId } from "../task.ts";

const tokens = (n: number): { spent: Spent } => ({ spent: { tokens: n, microdollars: 0 } });
const over = (budget?: Failure["budget"]): Failure => ({
  ...failure("budget", "the next call would be too dear"),
  ...(budget && { budget }),
});
const CONFLICT = { task: "t.1" as TaskId, files: ["a.ts"], against: "target" } as const;
const refuse = (run: CoreRun, job: string, why: Failure, spent?: Spent) =>
  run.answer(job, { is: "failed", failure: why }, spent);
/** Two tasks below a large one, and the rest of its scope deferred. */
const split = (run: CoreRun, id: string, key: string) =>
  run.plan(id, [task("x", { scope: [`${key}/a.ts`] }), task("y", { scope: [`${key}/b.ts`] })], {
    deferred: [{ files: [`${key}/c.ts`, `${key}/d.ts`], reason: "later" }],
  });

describe("the budget of a task", () => {
  const limits: PolicyChanges = { budget: { task: { maxTokens: 300 }, reserveTokens: 100 } };

  test("ends a task that has used it, says which it was, and skips what waits for it", () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] }), task("c")], limits);
    run.work("t.1", { status: "failed", ...tokens(150) });
    assert.deepEqual(run.running("work").includes("work:t.1#2"), true, "150 and 100 are within 300");
    run.work("t.1", { status: "failed", ...tokens(60) });
    const { state } = run.task("t.1");
    assert.equal(state.is === "failed" && state.failure.budget, "task");
    assert.equal(state.is === "failed" && state.failure.message, "the budget of a is spent");
    assert.equal(run.is("t.2"), "skipped");
    assert.equal(run.is("t.3"), "open");
    run.finish("t.3");
    assert.match(JSON.stringify(run.brief("plan", "t").concerns), /a failed: the budget of a is spent/);
  });

  test("that is smaller than a reserve is tried once", () => {
    const run = CoreRun.planned([task("a")], { budget: { task: { maxTokens: 50 }, reserveTokens: 100 } });
    assert.deepEqual(run.running("work"), ["work:t.1#1"]);
    run.work("t.1", { status: "failed", ...tokens(1) });
    assert.equal(run.is("t.1"), "failed");
  });

  test("lets a planner's parts go on when it cannot be asked again", () => {
    const run = CoreRun.planned([large("a")], limits);
    const answer = { scratchpad: "", deferred: [], addressed: [], done: undefined, notes: [] };
    const parts = ["x", "y"].map((key, i) => task(key, { scope: [`a/${"ab"[i]}.ts`, `a/${"cd"[i]}.ts`] }));
    run.answer("plan:t.1#1", { is: "planned", answer: { ...answer, tasks: parts } }, tokens(250).spent);
    run.finish("t.1.1");
    assert.equal(run.isAsked("t.1"), false);
    assert.equal(run.is("t.1"), "delegated");
    run.finish("t.1.2");
    const { state } = run.task("t.1");
    assert.equal(state.is === "done" && state.handoff.status, "partial");
    assert.match(JSON.stringify(state), /the budget of a is spent/);
  });

  test("is not the root's, whose planner goes on", () => {
    const run = CoreRun.green(limits);
    for (let turn = 1; turn <= 3; turn += 1)
      run.answer(
        `plan:t#${turn}`,
        { is: "failed", failure: failure("plan-invalid", "x") },
        tokens(500).spent,
      );
    assert.ok(run.isAsked("t"));
  });
});

describe("the budget of a subtree", () => {
  const limits: PolicyChanges = { budget: { subtree: { maxTokens: 400 }, reserveTokens: 100 } };

  test("is shared by a task of the root planner and all below it, and by nobody else", () => {
    const run = CoreRun.planned([large("a"), task("b")], limits);
    const answer = { scratchpad: "", deferred: [], addressed: [], done: undefined, notes: [] };
    const parts = ["a", "b", "c", "d"].map((file) => task(file, { scope: [`a/${file}.ts`] }));
    run.answer("plan:t.1#1", { is: "planned", answer: { ...answer, tasks: parts } }, tokens(150).spent);
    assert.deepEqual(
      run.running("work").filter((job) => job.startsWith("work:t.1.")),
      ["work:t.1.1#1", "work:t.1.2#1"],
      "150 and two reserves are within 400, three are not",
    );
    run.work("t.1.1", tokens(200));
    run.work("t.1.2", tokens(20));
    for (const id of ["t.1.3", "t.1.4"]) {
      const { state } = run.task(id);
      assert.equal(state.is === "failed" && state.failure.budget, "subtree", id);
    }
    run.work("t.2");
    assert.equal(run.is("t.2"), "landing");
  });

  test("counts each token once: what tasks have used is what the run has", () => {
    const run = CoreRun.planned([large("a"), task("b")], limits);
    split(run, "t.1", "a");
    run.work("t.1.1", tokens(30));
    run.work("t.1.2", { status: "failed", ...tokens(40) });
    run.work("t.2", tokens(50));
    assert.equal(run.state.spent.tokens, 120);
    assert.equal(run.state.subtrees.get("t.1" as TaskId)?.tokens, 70);
    assert.equal(run.state.subtrees.get("t.2" as TaskId)?.tokens, 50);
    assert.equal(run.task("t.1").used.tokens, 0);
    const all = [...run.state.tasks.values()].reduce((sum, { used }) => sum + used.tokens, 0);
    assert.equal(all, 120);
  });
});

describe("the part of a budget that is kept for landing", () => {
  const limits: PolicyChanges = {
    capacity: { work: 1 },
    budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0.3 },
  };

  test("is not for new tasks, but for what was finished and refused", () => {
    const run = CoreRun.planned([task("a"), task("b")], limits);
    run.work("t.1", tokens(690));
    assert.deepEqual(run.running("work"), []);
    assert.equal(run.state.spent.exhausted, true);
    run.land([CONFLICT]);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    run.work("t.1", tokens(50));
    run.land();
    run.check();
    assert.equal(run.is("t.1"), "done");
    assert.equal(run.is("t.2"), "open");
    assert.equal(run.closed?.how, "incomplete");
    assert.match(run.closed!.left.join("\n"), /the budget is spent/);
  });

  test("mends a target that is red", () => {
    const run = CoreRun.planned([task("a"), task("b")], limits);
    run.work("t.1", tokens(690));
    run.say({ type: "base-moved", commit: "b2" });
    run.land();
    run.checkRed();
    assert.deepEqual(run.running("work"), ["work:t.3#1"], "a fix");
    run.work("t.3", tokens(10));
    run.land();
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.equal(run.is("t.3"), "done");
  });

  test("is spent itself in the end, and then the run closes", () => {
    const run = CoreRun.planned([task("a"), task("b")], limits);
    run.work("t.1", tokens(690));
    run.land([CONFLICT]);
    run.work("t.1", { status: "failed", ...tokens(250) });
    assert.deepEqual(run.running("work"), [], "940 and 100 are more than 1000");
    assert.ok(run.closed);
    assert.equal(run.is("t.1"), "open");
  });

  test("waits for an attempt that is tried again later, before it is over", () => {
    const run = CoreRun.planned([task("a"), task("b")], limits);
    run.work("t.1", tokens(690));
    run.land([CONFLICT]);
    run.fail("work", "t.1", "agent-unreachable");
    assert.equal(run.closed, undefined);
    run.wait(60_000);
    assert.deepEqual(run.running("work"), ["work:t.1#3"]);
  });
});

describe("calls that were cut off", () => {
  const cut = (n: number, calls = 1): Spent => ({
    tokens: 10,
    microdollars: 1,
    unaccounted: { calls, tokens: n, microdollars: 5 },
  });

  test("are charged to the budgets and counted apart from what is known", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c")], {
      capacity: { work: 1 },
      budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0 },
    });
    run.answer("work:t.1#1", run.worked("t.1"), cut(900, 2));
    assert.equal(run.state.spent.tokens, 10);
    assert.deepEqual(run.state.spent.unaccounted, { calls: 2, tokens: 900, microdollars: 5 });
    assert.deepEqual(run.running("work"), [], "910 and 100 are more than 1000");
  });

  test("count also in what a task and its subtree may use", () => {
    const run = CoreRun.planned([task("a")], { budget: { task: { maxTokens: 300 }, reserveTokens: 100 } });
    run.answer("work:t.1#1", { is: "failed", failure: failure("agent-failed", "x") }, cut(200));
    assert.equal(run.is("t.1"), "failed");
  });

  test("count when a job was interrupted with them, and once", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "interrupted", job: "work:t.1#1" as JobId, spent: cut(70) });
    run.say({ type: "interrupted", job: "work:t.1#1" as JobId, spent: cut(70) });
    run.answer("work:t.1#1", run.worked("t.1"), cut(70));
    assert.equal(run.state.spent.unaccounted.tokens, 70);
  });

  test("and never made cost nothing: a job that was refused its first call has no unknown price", () => {
    const run = CoreRun.planned([task("a")]);
    const { unpriced } = run.state.spent;
    run.answer("work:t.1#1", { is: "failed", failure: failure("quota", "no more") }, { tokens: 0 });
    assert.equal(run.state.spent.unpriced, unpriced);
  });

  test("whose numbers are none count as what is set aside; without a price, the job has none", () => {
    const run = CoreRun.planned([task("a")], { budget: { reserveTokens: 100 } });
    const odd = { calls: Number.NaN, tokens: Number.NaN };
    run.answer("work:t.1#1", run.worked("t.1"), { tokens: 1, microdollars: 1, unaccounted: odd });
    assert.deepEqual(run.state.spent.unaccounted, { calls: 1, tokens: 100, microdollars: 0 });
    assert.equal(run.state.spent.unpriced, 1);
    assert.equal(run.state.spent.microdollars, 1);
  });
});

describe("a job whose next call was refused for its cost", () => {
  test("is not charged if the run's budget is spent, which drains then", () => {
    const run = CoreRun.planned([task("a"), task("b")], { capacity: { work: 1 } });
    refuse(run, "work:t.1#1", over("run"));
    assert.equal(run.state.spent.exhausted, true);
    assert.deepEqual(run.task("t.1").tries, { ...run.task("t.2").tries, attempts: 1 });
    assert.deepEqual(run.running("work"), []);
    assert.ok(run.closed);
    assert.match(run.closed!.left.join("\n"), /the budget is spent/);
  });

  test("fails if it was its own budget, or its subtree's; others go on", () => {
    for (const budget of ["task", "subtree"] as const) {
      const run = CoreRun.planned([task("a"), task("b")]);
      refuse(run, "work:t.1#1", over(budget));
      assert.equal(run.is("t.1"), "failed", budget);
      assert.equal(run.state.spent.exhausted, false);
      assert.deepEqual(run.running("work"), ["work:t.2#1"]);
    }
  });

  test("that does not say whose budget it was is judged by the sums, with what it has cost", () => {
    const limits = {
      capacity: { work: 1 },
      budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0 },
    };
    const spent = CoreRun.planned([task("a")], limits);
    refuse(spent, "work:t.1#1", over(), { tokens: 950 });
    assert.equal(spent.state.spent.exhausted, true);
    assert.equal(spent.is("t.1"), "open");
    const rich = CoreRun.planned([task("a")], limits);
    refuse(rich, "work:t.1#1", over(), { tokens: 50 });
    assert.equal(rich.is("t.1"), "failed");
  });

  test("of the root's planner drains the run, and its errors are not counted", () => {
    const run = CoreRun.green();
    refuse(run, "plan:t#1", over("task"));
    assert.equal(run.state.spent.exhausted, true);
    assert.equal(run.task("t").tries.planErrors, 0);
    assert.ok(run.closed);
  });

  test("of a subplanner ends its task, or what is left of it is finished", () => {
    const fresh = CoreRun.planned([large("a")]);
    refuse(fresh, "plan:t.1#1", over("subtree"));
    assert.equal(fresh.is("t.1"), "failed");
    const run = CoreRun.planned([large("a")]);
    split(run, "t.1", "a");
    run.finish("t.1.1");
    refuse(run, "plan:t.1#2", over("subtree"));
    assert.equal(run.is("t.1"), "delegated");
    run.finish("t.1.2");
    assert.equal(run.is("t.1"), "done");
  });

  test("with what is kept for landing spends that as well, and is not started over and over", () => {
    const run = CoreRun.planned([task("a"), task("b")], {
      capacity: { work: 1 },
      budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0.3 },
    });
    run.work("t.1", tokens(690));
    run.land([CONFLICT]);
    refuse(run, "work:t.1#2", over("run"));
    assert.equal(run.state.spent.landingSpent, true);
    assert.deepEqual(run.running("work"), []);
    assert.ok(run.closed && !isSettled(run.task("t.2")));
  });
});
