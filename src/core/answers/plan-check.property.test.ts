/** Tests `checkPlan` with random plans against the same rules without an index. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { cases } from "../../../test/support/cases.ts";
import { cpuMs } from "../../../test/support/cpu.ts";
import { contains, EVERYTHING, overlaps, type Scope } from "../scope.ts";
import type { TaskId } from "../task.ts";
import type { AnsweredTask, PlanAnswer } from "./plan-answer.ts";
import { checkPlan } from "./plan-check.ts";

/** Few names, so that tasks often overlap, repeat and wait for each other. */
const path = fc.constantFrom("a/", "a/x", "a/y", "a/b/", "a/b/z", "b", "b/", "c", "lock", "d/e");
const scope = fc.uniqueArray(path, { minLength: 1, maxLength: 3 });
const name = fc.constantFrom("k", "l", "m", "n", "o", "p", "q", "constructor");

const task = (id: string): fc.Arbitrary<AnsweredTask> =>
  fc.record({
    id: fc.constant(id),
    description: fc.constant("Do it"),
    acceptance: fc.constant("ok"),
    scope,
    priority: fc.integer({ min: 1, max: 10 }),
    after: fc.uniqueArray(name, { maxLength: 1 }),
    delivers: fc.constantFrom("change", "change", "report"),
  });

const plan: fc.Arbitrary<PlanAnswer> = fc
  .uniqueArray(name, { maxLength: 5 })
  .chain((ids) => fc.tuple(...ids.map(task)))
  .chain((tasks) =>
    fc.record({
      scratchpad: fc.constant(""),
      tasks: fc.constant(tasks),
      deferred: fc.array(fc.record({ files: scope, reason: fc.constant("later") }), { maxLength: 1 }),
      addressed: fc.constant([]),
      done: fc.boolean(),
      notes: fc.constant([]),
    }),
  );

const context: fc.Arbitrary<Parameters<typeof checkPlan>[1]> = fc.record({
  parent: fc.record({
    id: fc.constant("t.1" as TaskId),
    scope: fc.oneof(fc.constant([EVERYTHING]), fc.constant(["a/", "b", "c", "lock"]), scope),
    priority: fc.constant(5),
  }),
  strict: fc.boolean(),
  firstOrdinal: fc.integer({ min: 1, max: 3 }),
  known: fc.constantFrom(new Map<string, TaskId>(), new Map([["k", "t.1.1" as TaskId]])),
  coveredBefore: fc.oneof(fc.constant([]), scope),
  maxTasks: fc.constantFrom(3, 4, 5),
  sharedFiles: fc.constantFrom([], ["lock"]),
});

/** The same rules by comparing all pairs, without an index; shares only `contains` with the code. */
function isAcceptable({ tasks }: PlanAnswer, about: Parameters<typeof checkPlan>[1]): boolean {
  const fits = (given: AnsweredTask) =>
    given.delivers === "report" || given.scope.some((x) => contains(about.parent.scope, x));
  const kept = tasks.filter(fits);
  const keys = new Set([...kept.map(({ id }) => id), ...about.known.keys()]);
  if (tasks.length > about.maxTasks || (tasks.length > 0 && kept.length === 0)) return false;
  if (tasks.some(({ id }) => about.known.has(id))) return false;
  if (kept.some(({ after }) => after.some((key) => !keys.has(key)))) return false;
  if (kept.some(({ id }) => isBehind(id, id, kept))) return false;
  return (
    !about.strict ||
    kept.every((one, i) => kept.slice(0, i).every((other) => !overlaps(own(one, about), own(other, about))))
  );
}

const own = (
  { scope, delivers }: AnsweredTask,
  { parent, sharedFiles }: Parameters<typeof checkPlan>[1],
): Scope =>
  delivers === "report" ? [] : scope.filter((x) => contains(parent.scope, x) && !contains(sharedFiles, x));

/** True if `from` waits for `to`, directly or not. */
function isBehind(from: string, to: string, tasks: readonly AnsweredTask[]): boolean {
  const seen = new Set(tasks.find(({ id }) => id === from)?.after);
  for (const key of seen) for (const next of tasks.find(({ id }) => id === key)?.after ?? []) seen.add(next);
  return seen.has(to);
}

describe("checkPlan", () => {
  test("accepts exactly what the rules allow, and what it accepts holds together", () => {
    let accepted = 0;
    fc.assert(
      fc.property(plan, context, (answer, about) => {
        const checked = checkPlan(answer, about);
        assert.equal(
          checked.is,
          isAcceptable(answer, about) ? "accepted" : "refused",
          JSON.stringify(checked),
        );
        if (checked.is === "refused") return assert.ok(checked.reasons.length > 0);
        accepted += 1;
        const keys = checked.tasks.map(({ key }) => key);
        const idOf = (key: string) => about.known.get(key) ?? `t.1.${about.firstOrdinal + keys.indexOf(key)}`;
        assert.equal(new Set(keys).size, keys.length);
        for (const made of checked.tasks) {
          const given = answer.tasks.find(({ id }) => id === made.key)!;
          assert.deepEqual(made.after, given.after.map(idOf));
          assert.ok(made.scope.every((x) => contains(about.parent.scope, x) && given.scope.includes(x)));
          assert.ok(made.scope.length > 0 || made.delivers === "report");
        }
        const named = [
          ...checked.tasks.map((made) => made.scope),
          ...answer.deferred.map((part) => part.files),
        ].flat();
        const isLeft = (x: string) =>
          !overlaps([x], [...named, ...about.coveredBefore]) && !contains(about.sharedFiles, x);
        const isAsked = about.strict && !about.parent.scope.includes(EVERYTHING);
        const isWhole = keys.length === 0 && about.coveredBefore.length === 0;
        assert.deepEqual(checked.uncovered, isAsked && !isWhole ? about.parent.scope.filter(isLeft) : []);
      }),
      { numRuns: cases(10_000), seed: 1 },
    );
    assert.ok(
      accepted > cases(10_000) * 0.15 && accepted < cases(10_000) * 0.85,
      `${accepted} were accepted: nothing is compared`,
    );
  });

  test("the time it takes grows with the number of tasks, not with its square", () => {
    const small = leastMs(1_000);
    const large = leastMs(8_000);
    assert.ok(large < 32 * (small + 1), `${small} ms became ${large} ms`);
  });
});

function leastMs(count: number): number {
  const tasks = Array.from({ length: count }, (_, i): AnsweredTask => {
    const after = i === 0 ? [] : [`n${i - 1}`];
    const own = [`src/m${i % 50}/f${i}.ts`, `test/f${i}/`];
    return {
      id: `n${i}`,
      description: "x",
      acceptance: "x",
      scope: own,
      priority: 5,
      after,
      delivers: "change",
    };
  });
  const answer = { scratchpad: "", tasks, deferred: [], addressed: [], done: false, notes: [] };
  const parent = {
    id: "t.1" as TaskId,
    scope: [...tasks.flatMap((one) => one.scope), "left.ts"],
    priority: 5,
  };
  const about = { parent, strict: true, firstOrdinal: 1, known: new Map(), coveredBefore: [] };
  const rest = { maxTasks: count, sharedFiles: [] };
  const times = [1, 2, 3].map(() => {
    const start = cpuMs();
    const checked = checkPlan(answer, { ...about, ...rest });
    assert.ok(checked.is === "accepted" && checked.tasks.length === count && checked.uncovered.length === 1);
    return cpuMs() - start;
  });
  return Math.min(...times);
}
