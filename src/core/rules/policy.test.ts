/** Tests which tasks are split, and the waits before retries. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, policyWith, task } from "../../../test/support/core-run.ts";
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
  const HARD = "Migrate the database schema, then refactor the api and deploy all services to production";
  const shape = (scope: readonly string[], changes = {}, depth = 0, description = "Mend it") =>
    shapeOf({ scope, delivers: "change", description }, policyWith(changes), depth);

  test("a report is never split", () => {
    const report = { scope: ["src/"], delivers: "report", description: HARD, size: "complex" } as const;
    assert.equal(shapeOf(report, defaultPolicy, 0), "work");
  });

  test("its planner's word counts for more than its files, and the depth for more than its word", () => {
    const sized = (size: "complex" | "atomic", scope: readonly string[], depth = 0) =>
      shapeOf({ scope, delivers: "change", description: "Mend it", size }, defaultPolicy, depth);
    assert.deepEqual([sized("complex", files(1)), sized("atomic", files(9))], ["plan", "work"]);
    assert.equal(sized("complex", files(9), 3), "work");
  });

  test("a complex description counts where the policy says so, and is ignored by default", () => {
    assert.equal(shape(files(1), {}, 0, HARD), "work");
    assert.equal(shape(files(1), { decompose: { scoreThreshold: 16 } }, 0, HARD), "plan");
    assert.equal(shape(files(1), { decompose: { scoreThreshold: 16 } }), "work");
    assert.equal(shape(files(1), { decompose: { scoreThreshold: 16 } }, 3, HARD), "work");
  });

  test("a planner's mark reaches the task, and is not kept in it", () => {
    const small = { ...task("a", { scope: files(1) }), size: "complex" } as const;
    const large = { ...task("b", { scope: files(9).slice(1) }), size: "atomic" } as const;
    const run = CoreRun.planned([small, large]);
    assert.deepEqual([run.task("t.1").spec.shape, run.task("t.2").spec.shape], ["plan", "work"]);
    assert.ok(!("size" in run.task("t.1").spec));
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
