/** Tests the critical path of a plan. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { criticalPath } from "./waves.ts";

const task = (id: string, blockedBy: readonly string[] = [], minutes?: number) => ({
  id,
  blockedBy,
  ...(minutes !== undefined && { estimate: { minutes } }),
});

test("is the longest chain by minutes, not by tasks", () => {
  const tasks = [task("a", [], 2), task("b", ["a"], 2), task("c", ["b"], 2), task("long", [], 7)];
  assert.deepEqual(criticalPath({ tasks }), ["long"]);
  assert.deepEqual(criticalPath({ tasks: tasks.slice(0, 3) }), ["a", "b", "c"]);
});

test("a task that nobody estimated takes a minute", () => {
  const tasks = [task("a"), task("b", ["a"]), task("c", [], 1.5)];
  assert.deepEqual(criticalPath({ tasks }), ["a", "b"]);
  assert.deepEqual(criticalPath({ tasks: [task("odd", [], Number.NaN), task("two", [], 2)] }), ["two"]);
});

test("of equal chains it is that of the tasks that come first in the plan", () => {
  const tasks = [task("a"), task("b"), task("c", ["b", "a"]), task("d", ["a"])];
  assert.deepEqual(criticalPath({ tasks }), ["a", "c"]);
});

test("is nothing without tasks or in a circle, and does not miss what nobody knows", () => {
  assert.deepEqual(criticalPath({ tasks: [] }), []);
  assert.deepEqual(criticalPath({ tasks: [task("a", ["b"]), task("b", ["a"])] }), []);
  assert.deepEqual(criticalPath({ tasks: [task("a", ["a"])] }), []);
  assert.deepEqual(criticalPath({ tasks: [task("a", ["gone"]), task("a", ["a"])] }), ["a"]);
});

test("no chain of any plan takes longer", () => {
  const plans = fc.array(fc.tuple(fc.nat(9), fc.array(fc.nat(7), { maxLength: 3 })), { maxLength: 8 });
  fc.assert(
    fc.property(plans, (drawn) => {
      const tasks = drawn.map(([minutes, before], index) =>
        task(
          `${index}`,
          before.filter((one) => one < index).map((one) => `${one}`),
          minutes,
        ),
      );
      const lengthOf = (id: string): number => {
        const { blockedBy, estimate } = tasks[Number(id)]!;
        return estimate!.minutes + Math.max(0, ...blockedBy.map(lengthOf));
      };
      const path = criticalPath({ tasks });
      const total = path.reduce((sum, id) => sum + tasks[Number(id)]!.estimate!.minutes, 0);
      assert.equal(total, Math.max(0, ...tasks.map(({ id }) => lengthOf(id))));
      for (const [index, id] of path.entries())
        if (index > 0) assert.ok(tasks[Number(id)]!.blockedBy.includes(path[index - 1]!));
    }),
    { numRuns: 500 },
  );
});
