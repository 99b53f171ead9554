/** Tests which files loose tasks hold, and the terms of a plan's tasks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import { EVERYTHING } from "../scope.ts";

const loose = (id: string) => task(id, { scope: [EVERYTHING], terms: { loose: true } });
const meets = (run: CoreRun, ...ids: readonly string[]) =>
  ids.map((id) => ({ task: run.task(id).id, files: ["x.ts"], against: "target" as const }));

describe("tasks whose files nobody knows beforehand", () => {
  test("go to work at once, although each may change everything", () => {
    const run = CoreRun.planned([loose("a"), loose("b"), loose("c")]);
    assert.deepEqual(run.running("work"), ["work:t.1#1", "work:t.2#1", "work:t.3#1"]);
  });

  test("keep nobody else from its files, and are kept by nobody", () => {
    const run = CoreRun.planned([task("a"), loose("b"), task("c")]);
    assert.deepEqual(run.running("work"), ["work:t.1#1", "work:t.2#1", "work:t.3#1"]);
  });

  test("go to a worker and to no planner, however much they may change", () => {
    const run = CoreRun.planned([loose("a")]);
    assert.equal(run.task("t.1").spec.shape, "work");
  });

  test("that met in a file go one after the other from then on, and none is refused twice", () => {
    const run = CoreRun.planned(["a", "b", "c", "d"].map(loose));
    run.work("t.1", { filesChanged: ["x.ts"] }); // Its candidate is built alone: the others are ready later.
    for (const id of ["t.2", "t.3", "t.4"]) run.work(id, { filesChanged: ["x.ts"] });
    run.land();
    run.land(meets(run, "t.2", "t.3", "t.4"));
    const order: string[] = [];
    for (let left = 3; left > 0; left -= 1) {
      const [job, ...more] = run.running("work");
      assert.deepEqual(more, [], "one at a time");
      const id = job!.slice("work:".length, -"#2".length);
      order.push(id);
      run.work(id, { filesChanged: ["x.ts"] });
      assert.deepEqual(run.running("work"), [], "nobody starts before it has landed");
      run.land();
    }
    assert.deepEqual(order, ["t.2", "t.3", "t.4"]);
    assert.deepEqual(
      ["t.2", "t.3", "t.4"].map((id) => [run.is(id), run.task(id).tries.refused]),
      Array.from({ length: 3 }, () => ["done", 1]),
    );
  });

  test("let their files go when an attempt ends, so that two that want each other's do not wait for ever", () => {
    const run = CoreRun.planned([loose("a"), loose("b")], { landing: { maxBatch: 1 } });
    run.work("t.1", { filesChanged: ["x.ts"] });
    run.work("t.2", { filesChanged: ["y.ts"] });
    run.land(meets(run, "t.1"));
    run.land(meets(run, "t.2"));
    assert.deepEqual(run.running("work"), ["work:t.1#2", "work:t.2#2"], "their files are not the same");
    for (const id of ["t.1", "t.2"]) run.work(id, { status: "failed", filesChanged: ["x.ts", "y.ts"] });
    assert.deepEqual(run.running("work"), ["work:t.1#3"]);
    run.work("t.1", { filesChanged: ["x.ts", "y.ts"] });
    run.land();
    assert.deepEqual(run.running("work"), ["work:t.2#3"]);
  });

  test("wait for one that holds their file by its scope, once they are known to need it", () => {
    const run = CoreRun.planned([loose("a"), task("b", { scope: ["x.ts"] })]);
    run.work("t.1", { filesChanged: ["x.ts"] });
    run.land(meets(run, "t.1"));
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
    run.finish("t.2");
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
  });

  test("do not wait for one that never goes to work again, because the budget is spent", () => {
    const run = CoreRun.planned([loose("a"), task("b", { scope: ["x.ts"] })], {
      budget: { maxTokens: 1_000, reserveTokens: 100, landingShare: 0.3 },
    });
    run.work("t.1", { filesChanged: ["x.ts"], spent: { tokens: 90 } });
    run.land(meets(run, "t.1"));
    run.work("t.2", { status: "failed", spent: { tokens: 600 } });
    assert.equal(run.state.spent.exhausted, true);
    assert.deepEqual(run.running("work"), ["work:t.1#2"]);
    run.work("t.1", { filesChanged: ["x.ts"], spent: { tokens: 50 } });
    run.land();
    run.check();
    assert.deepEqual([run.closed?.how, run.is("t.1"), run.is("t.2")], ["incomplete", "done", "open"]);
  });
});

describe("the terms of a plan", () => {
  const red = failure("unmet", "npm test does not pass");

  test("that are not kept fail the attempt, and the next one is told", () => {
    const run = CoreRun.planned([task("a", { terms: { output: "a.md" } })]);
    run.work("t.1", { unmet: failure("unmet", 'answered "done" instead of DONE|a.md') });
    const [past] = run.brief("work", "t.1").past;
    assert.match(past!.failure.message, /instead of DONE/);
    assert.equal(run.task("t.1").tries.failed, 1);
  });

  test("give a task with a criterion five attempts, and others three", () => {
    const run = CoreRun.planned([
      task("a", { terms: { criterion: "npm test" } }),
      task("b", { terms: { output: "b.md" } }),
    ]);
    const attemptsOf = (id: string) => {
      let attempts = 0;
      while (run.is(id) === "open") {
        run.work(id, { unmet: red });
        attempts += 1;
      }
      return attempts;
    };
    assert.deepEqual([attemptsOf("t.1"), attemptsOf("t.2")], [5, 3]);
    assert.equal(run.is("t.1"), "failed");
  });

  test("hold for a report as well", () => {
    const run = CoreRun.planned([
      task("a", { delivers: "report", scope: [], terms: { criterion: "npm test" } }),
    ]);
    run.work("t.1", { unmet: red });
    assert.equal(run.is("t.1"), "open");
    run.work("t.1");
    assert.equal(run.is("t.1"), "done");
  });

  test("name the output of a task to those that waited for it", () => {
    const run = CoreRun.planned([task("a", { terms: { output: "a.md" } }), task("b", { after: ["a"] })]);
    run.finish("t.1");
    assert.deepEqual(
      run.brief("work", "t.2").before.map(({ key, output }) => [key, output]),
      [["a", "a.md"]],
    );
  });
});
