import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, policyWith, task } from "../../test/support/core-run.ts";
import { backoffMs, DEFAULT_SUBPLANNER_CONFIG, defaultPolicy, shapeOf, shouldDecompose } from "./policy.ts";

const files = (n: number) => Array.from({ length: n }, (_, i) => `src/${i}.ts`);
const decompose = (scope: readonly string[], depth = 0) =>
  shouldDecompose({ scope }, DEFAULT_SUBPLANNER_CONFIG, depth);

describe("shouldDecompose", () => {
  test("is for four files, not for three", () => {
    assert.ok(decompose(files(4)));
    assert.ok(!decompose(files(3)));
    assert.ok(!decompose([]));
  });

  test("takes a folder for four files, and the whole repository for a folder", () => {
    assert.ok(decompose(["src/"]));
    assert.ok(decompose(["./"]));
    assert.ok(!decompose(["src"]));
  });

  test("stops at depth three", () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((depth) => decompose(files(9), depth)),
      [true, true, true, false, false],
    );
  });
});

describe("the shape of a task", () => {
  const shape = (scope: readonly string[], changes = {}, depth = 0) =>
    shapeOf({ scope, delivers: "change" }, policyWith(changes), depth);

  test("a report is never split", () => {
    assert.equal(shapeOf({ scope: ["src/"], delivers: "report" }, defaultPolicy, 0), "work");
  });

  test("modules count where the policy says so, and never past the depth", () => {
    const two = ["a/x.ts", "b/y.ts"];
    assert.equal(shape(two), "work");
    assert.equal(shape(two, { decompose: { moduleThreshold: 2 } }), "plan");
    assert.equal(shape(two, { decompose: { moduleThreshold: 3 } }), "work");
    assert.equal(shape(two, { decompose: { moduleThreshold: 2 } }, 3), "work");
  });

  test("three subplanners can stand above each other, a fourth cannot", () => {
    const run = CoreRun.planned([task("a", { scope: ["m/"] })]);
    let id = "t.1";
    for (const depth of [0, 1, 2]) {
      assert.equal(run.brief("plan", id).depth, depth);
      run.plan(id, [task("x", { scope: ["m/"] })]);
      id += ".1";
    }
    assert.deepEqual(run.running("work"), ["work:t.1.1.1.1#1"]);
  });

  test("a fix is never split, not even one for the whole repository", () => {
    const run = CoreRun.planned([task("r", { delivers: "report" })]);
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: x"], "");
    assert.deepEqual(run.task("t.2").spec.scope, ["./"]);
    assert.ok(run.running("work").includes("work:t.2#1"));
  });
});

describe("the wait before a new try", () => {
  const { retry } = defaultPolicy;
  const waits = (name: string) => Array.from({ length: 40 }, (_, i) => backoffMs(retry, i + 1, name));

  test("doubles up to its limit, and stays a number however often it was tried", () => {
    for (const [i, wait] of waits("t.1").entries()) {
      const full = Math.min(retry.maxMs, 2_000 * 2 ** i);
      assert.ok(wait <= full && wait >= 0.75 * full, `try ${i + 1}: ${wait}`);
    }
    assert.ok(Number.isFinite(backoffMs(retry, 1e9, "t.1")));
  });

  test("is the same for the same task, and spread over many", () => {
    assert.deepEqual(waits("t.1"), waits("t.1"));
    const many = new Set(Array.from({ length: 50 }, (_, i) => backoffMs(retry, 3, `t.${i}`)));
    assert.ok(many.size > 40, `${many.size}`);
  });
});
