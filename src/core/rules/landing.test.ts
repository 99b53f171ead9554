/** Tests red gates: the second run, the check of the base, and the bisection. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task, twoToLand } from "../../../test/support/core-run.ts";
import type { TaskId } from "../task.ts";
import { bestBatch } from "./batch-size.ts";
import { pointedAt } from "./landing.ts";

/** `n` tasks in one candidate; the gate is red whenever one of `guilty` is in it. */
function batchOf(n: number, ...guilty: readonly number[]) {
  const ids = Array.from({ length: n }, (_, i) => `t.${i + 2}`);
  const run = CoreRun.planned([task("first"), ...ids.map((id) => task(id))], {
    capacity: { work: n + 1 },
    landing: { maxBatch: 64 },
    root: { replanAfter: 1_000 },
  });
  // The size of a batch grows with every landing, so tasks land one after the other until all `n` fit.
  run.finish("t.1");
  while (bestBatch(run.state.odds, 64) < n) {
    run.say({ type: "steer", message: "one more" });
    run.plan("t", [task(`extra${run.state.tasks.size}`)]);
    run.finish(`t.${run.state.tasks.size - 1}`);
  }
  // While this task is gated, the others gather for one candidate.
  run.say({ type: "steer", message: "one more" });
  run.plan("t", [task("blocker")]);
  run.work(`t.${run.state.tasks.size - 1}`);
  for (const id of ids) run.work(id);
  run.land();
  assert.deepEqual(run.candidate(), ids);
  const culprits = new Set(guilty.map((i) => ids[i]!));
  let gateRuns = 0;
  /** Answers land and check jobs until `stop` says so; a red gate names `files`. */
  const bisect = (stop: () => boolean, files: readonly string[] = []) => {
    const start = gateRuns;
    while (!stop()) {
      gateRuns += 1;
      if (run.running("check").length > 0) run.check();
      else if (run.candidate().some((id) => culprits.has(id) && run.task(id).tries.attempts === 1))
        run.landRed(["test: x"], [], files);
      else run.land();
      assert.ok(gateRuns - start < 1_000, "the bisection has no end");
    }
    return gateRuns - start;
  };
  const refused = () => run.events("task.retried").map((e) => e.task as string);
  return { run, ids, bisect, refused };
}

describe("the bisection for the culprit", () => {
  test("finds one in n within ceil(log2 n) + 4 gate runs, wherever it is, for every n up to 64", () => {
    for (let n = 1; n <= 64; n += 1) {
      for (let culprit = 0; culprit < n; culprit += 1) {
        const { bisect, ids, refused } = batchOf(n, culprit);
        const runs = bisect(() => refused().length > 0);
        const limit = Math.ceil(Math.log2(n)) + 4;
        assert.ok(runs <= limit, `culprit ${culprit} of ${n} took ${runs} runs, not ${limit}`);
        assert.deepEqual(refused(), [ids[culprit]]);
      }
    }
  });

  test("refuses both of two culprits and nobody else, wherever they are", () => {
    const n = 9;
    for (let a = 0; a < n; a += 1) {
      for (let b = a + 1; b < n; b += 1) {
        const { run, bisect, ids, refused } = batchOf(n, a, b);
        const innocent = ids.filter((_, i) => i !== a && i !== b);
        bisect(() => refused().length === 2 && innocent.every((id) => run.is(id) === "done"));
        assert.deepEqual(refused().toSorted(), [ids[a], ids[b]].toSorted());
      }
    }
  });

  test("lands the innocent half on the way, each task once", () => {
    const { run, bisect, ids, refused } = batchOf(8, 7);
    bisect(() => refused().length > 0);
    const landed = run.events("batch.landed").flatMap((e) => e.members.map((m) => m.task as string));
    assert.equal(new Set(landed).size, landed.length);
    assert.deepEqual(
      ids.slice(0, 7).filter((id) => run.is(id) !== "done"),
      [],
    );
  });
});

describe("a red gate that names files of one member", () => {
  const filesOf = (ids: readonly string[], ...named: readonly number[]) => named.map((i) => `${ids[i]}.ts`);

  test("tries that one first: refused after five gate runs, however many there are, and nobody else", () => {
    for (let n = 2; n <= 64; n += 3) {
      const culprit = n - 1;
      const { bisect, ids, refused } = batchOf(n, culprit);
      assert.equal(
        bisect(() => refused().length > 0, ["elsewhere.ts", ...filesOf(ids, culprit)]),
        5,
      );
      assert.deepEqual(refused(), [ids[culprit]]);
    }
  });

  test("keeps to ceil(log2 n) + 4 gate runs whomever it points at, one or half of them, rightly or not", () => {
    for (const n of [2, 3, 4, 5, 7, 8, 9, 16, 17]) {
      for (let culprit = 0; culprit < n; culprit += 1) {
        for (const many of new Set([1, 2, Math.floor(n / 2), n])) {
          const { bisect, ids, refused } = batchOf(n, culprit);
          const named = Array.from({ length: many }, (_, i) => (culprit + 1 + 2 * i) % n);
          const runs = bisect(() => refused().length > 0, filesOf(ids, ...named));
          const limit = Math.ceil(Math.log2(n)) + 4;
          assert.ok(runs <= limit, `culprit ${culprit} of ${n}, named ${named}: ${runs} runs, not ${limit}`);
          assert.deepEqual(refused(), [ids[culprit]]);
        }
      }
    }
  });

  test("is about a file that no other member changed", () => {
    const members = ["a", "b", "c"].map((id) => ({ task: id as TaskId, attempt: 1 }));
    const changed = { a: ["a.ts", "lock"], b: ["b.ts", "lock", "b.ts"], c: [] };
    const named = (...files: string[]) =>
      pointedAt(members, files, ({ task: id }) => changed[id as keyof typeof changed]).map((m) => m.task);
    assert.deepEqual(named("lock", "x.ts"), []);
    assert.deepEqual(named("b.ts", "lock"), ["b"]);
    assert.deepEqual(named("b.ts", "a.ts"), ["a", "b"]);
  });

  test("blames nobody where the target is red as well, and asks the target where that one cannot be merged", () => {
    const red = (run: CoreRun) => run.landRed(["test: x"], [], ["t.3.ts"]);
    const { run, ids, refused } = batchOf(4, 1);
    for (let n = 0; n < 2; n += 1) red(run);
    assert.deepEqual(run.candidate(), ["t.3"]);
    red(run);
    run.checkRed(["test: x"]);
    assert.deepEqual(refused(), []);
    assert.ok(ids.every((id) => run.is(id) === "landing"));

    const other = batchOf(4, 1).run;
    for (let n = 0; n < 2; n += 1) red(other);
    const conflict = { task: "t.3" as TaskId, files: ["t.3.ts"], against: "target" } as const;
    other.land([conflict]);
    assert.equal(other.state.landing.phase.is, "base");
    other.check();
    assert.deepEqual(other.candidate(), ["t.2", "t.4"]);
  });
});

describe("a red gate", () => {
  test("is run once more; green then, it was a flaky test, which is written down", () => {
    const run = twoToLand();
    run.landRed(["test: clock"]);
    assert.deepEqual(run.candidate(), ["t.2", "t.3"], "the same candidate");
    run.land();
    assert.deepEqual([run.is("t.2"), run.is("t.3")], ["done", "done"]);
    assert.deepEqual(run.events("batch.landed").at(-1)!.flaky, ["test: clock"]);
    assert.deepEqual([...run.state.flaky], [["test: clock", 1]]);
  });

  test("twice asks the base before anybody is blamed", () => {
    const run = twoToLand();
    run.landRed();
    run.landRed();
    assert.deepEqual(run.running(), ["check#2"]);
    assert.deepEqual(run.events("task.retried"), []);
  });

  test("on a base that is red itself blames nobody: all wait, and a fix goes first", () => {
    const run = twoToLand();
    run.landRed();
    run.landRed();
    run.checkRed();
    assert.deepEqual(run.events("task.retried"), []);
    assert.deepEqual([run.is("t.2"), run.is("t.3")], ["landing", "landing"]);
    assert.deepEqual(run.running(), ["work:t.4#1"]);
    run.finish("t.4");
    run.check();
    assert.deepEqual(run.candidate(), ["t.2", "t.3"]);
    assert.deepEqual([run.task("t.2").tries.refused, run.task("t.3").tries.refused], [0, 0]);
  });

  test("that fails differently each time is looked at a third time before the base is asked", () => {
    const run = twoToLand();
    run.landRed(["test: one"]);
    run.landRed(["test: two"]);
    assert.deepEqual(run.candidate(), ["t.2", "t.3"]);
    run.landRed(["test: three"]);
    assert.deepEqual(run.running(), ["check#2"]);
  });

  test("names the failures in the next brief of the refused", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1", { summary: "my way" });
    run.landRed(["test: adds"]);
    run.landRed(["test: adds"]);
    run.check();
    const [past] = run.brief("work", "t.1").past;
    assert.equal(past!.failure.kind, "gate-red");
    assert.match(past!.failure.message, /test: adds/);
    assert.equal(past!.handoff?.summary, "my way");
  });

  test("refuses a task twice, and the third time it has failed", () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] })]);
    for (let n = 1; n <= 3; n += 1) {
      assert.deepEqual(run.running("work"), [`work:t.1#${n}`]);
      run.work("t.1");
      run.landRed();
      run.landRed();
      run.check();
    }
    assert.deepEqual([run.is("t.1"), run.is("t.2")], ["failed", "skipped"]);
  });

  test("of a target that turns red while it is gated blames nobody", () => {
    const run = twoToLand();
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: x"]);
    run.landRed(["test: x", "test: y"]);
    assert.deepEqual(run.candidate(), [], "they wait, all of them");
    assert.deepEqual(run.events("task.retried"), []);
    run.finish("t.4");
    run.check();
    assert.deepEqual(run.candidate(), ["t.2", "t.3"]);
  });

  const turnRed = (run: CoreRun) => {
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: z"]);
  };

  for (const [how, end] of [
    ["red", (run: CoreRun) => run.landRed(["test: z"])],
    ["green", (run: CoreRun) => run.land()],
    ["broken down", (run: CoreRun) => run.landFailed()],
  ] as const) {
    test(`in a bisection does not count when the target turns red and the next run is ${how}`, () => {
      const run = twoToLand();
      run.landRed();
      run.landRed();
      run.check();
      run.landRed();
      assert.deepEqual(run.candidate(), ["t.2"], "asked a second time");
      turnRed(run);
      end(run);
      assert.deepEqual(run.events("task.retried"), []);
      assert.equal(run.state.landing.phase.is, "open");
    });
  }

  test("in a bisection does not count when the target turns red between two runs", () => {
    const run = twoToLand();
    run.landRed();
    run.landRed();
    run.check();
    run.landFailed();
    turnRed(run);
    run.wait(MINUTE);
    assert.deepEqual(run.candidate(), []);
    assert.equal(run.state.landing.phase.is, "open");
  });

  test("in a bisection, twice and for another reason than is bisected, asks the base before anybody is blamed", () => {
    const { run, ids, refused } = batchOf(4);
    run.landRed(["test: x"]);
    run.landRed(["test: x"]);
    run.check();
    assert.deepEqual(run.candidate(), ids.slice(0, 2));
    run.landRed(["test: the network"]);
    run.landRed(["test: the network"]);
    assert.deepEqual(run.candidate(), []);
    run.checkRed(["test: the network"]);
    assert.deepEqual(refused(), []);
    assert.ok(ids.every((id) => run.is(id) === "landing"));
  });

  test("on a target that has moved since is of another candidate, which may be red once", () => {
    const { run, ids, refused } = batchOf(1);
    run.landRed();
    run.landMoved({ tip: "theirs", landings: [] });
    run.check();
    run.landRed();
    assert.deepEqual(run.candidate(), ids, "it is run once more");
    run.land();
    assert.deepEqual(refused(), []);
    assert.equal(run.is(ids[0]!), "done");
  });

  test("twice on a target that has moved since is judged on the new one, and blames nobody", () => {
    const { run, ids, refused } = batchOf(1);
    run.landRed();
    run.landRed();
    run.check(["test: x"], "broken.ts", { tip: "theirs", landings: [] });
    run.check();
    assert.deepEqual(refused(), []);
    assert.deepEqual(run.candidate(), ids);
    assert.equal(run.brief("land").onto, "theirs");
  });

  test("in a bisection, of one alone, does not count on a target that a look finds elsewhere", () => {
    const { run, ids, refused } = batchOf(2);
    run.landRed();
    run.landRed();
    run.check();
    run.landRed();
    run.say({ type: "base-moved", commit: "b2" });
    run.landFailed();
    run.check([], "", { tip: "theirs", landings: [] });
    run.check();
    run.wait(MINUTE);
    run.landRed();
    assert.deepEqual(run.candidate(), [ids[0]], "it is run once more");
    assert.deepEqual(refused(), []);
  });

  test("in a bisection whose target turns red ends the bisection, and nobody is blamed", () => {
    const run = twoToLand();
    run.landRed();
    run.landRed();
    run.check();
    assert.deepEqual(run.candidate(), ["t.2"], "the bisection is on");
    run.say({ type: "base-moved", commit: "b2" });
    run.checkRed(["test: z"]);
    run.landRed(["test: z"]);
    assert.deepEqual(run.events("task.retried"), []);
    assert.equal(run.state.landing.phase.is, "open");
  });
});

describe("a conflict", () => {
  const conflict = (id: string, against: "target" | "batch") => ({
    task: id as TaskId,
    files: ["x.ts"],
    against,
  });

  test("with the target is a refused attempt of the same task, from the new target", () => {
    const run = twoToLand();
    run.land([conflict("t.3", "target")]);
    assert.deepEqual([run.is("t.2"), run.is("t.3")], ["done", "open"]);
    const brief = run.brief("work", "t.3");
    assert.equal(brief.base, "commit-2");
    assert.equal(brief.past[0]!.failure.kind, "conflict");
    assert.match(brief.past[0]!.failure.message, /x\.ts/);
  });

  test("with the rest of the batch costs nothing: it lands in the next one", () => {
    const run = twoToLand();
    run.land([conflict("t.3", "batch")]);
    assert.deepEqual(run.candidate(), ["t.3"]);
    assert.equal(run.task("t.3").tries.refused, 0);
  });

  test("of all that were to land leaves nobody behind", () => {
    const run = twoToLand();
    run.land([conflict("t.2", "target"), conflict("t.3", "target")]);
    assert.deepEqual(run.running("work"), ["work:t.2#2", "work:t.3#2"]);
  });

  test("is borne twice, the third time the task has failed", () => {
    const run = CoreRun.planned([task("a")]);
    for (let n = 1; n <= 3; n += 1) {
      run.work("t.1");
      run.land([conflict("t.1", "target")]);
    }
    assert.equal(run.is("t.1"), "failed");
  });

  test("in a red candidate takes the conflicting one out of the bisection", () => {
    const run = twoToLand();
    run.landRed(["test: x"], [conflict("t.3", "target")]);
    assert.deepEqual(run.candidate(), ["t.2"]);
    assert.deepEqual(run.running("work"), ["work:t.3#2"]);
  });
});

describe("a landing that breaks down", () => {
  test("is tried again after a wait, and after twenty in a row its tasks have failed", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.work("t.1");
    for (let n = 1; n <= 19; n += 1) {
      run.landFailed();
      assert.match(run.events("landing.turned").at(-1)!.failure!.message, /disk full/);
      assert.deepEqual(run.candidate(), []);
      run.wait(10 * MINUTE);
      assert.deepEqual(run.candidate(), ["t.1"]);
    }
    run.landFailed();
    assert.equal(run.is("t.1"), "failed");
    run.finish("t.2");
    assert.equal(run.is("t.2"), "done");
  });

  test("by a restart of the engine is begun again at once", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1");
    for (let n = 1; n <= 9; n += 1) run.say({ type: "interrupted", job: `land#${n}` as never });
    assert.deepEqual(run.running("land"), ["land#10"]);
  });
});
