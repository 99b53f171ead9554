/** Tests landings that were taken back, and the last check before a run is done. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, MINUTE, task } from "../../../test/support/core-run.ts";
import { failure } from "../failure.ts";
import type { Fact } from "../log/event.ts";
import { evolve, replay } from "../log/evolve.ts";
import type { TaskId } from "../task.ts";
import { decide } from "./decide.ts";
import { due } from "./due.ts";

describe("a landing that somebody took back", () => {
  const taken = (run: CoreRun) => run.check([], "", { tip: "base", landings: [], lost: ["commit-1"] });

  test("is known, and the run is not done", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.plan("t", [], { done: true });
    taken(run);
    run.check();
    assert.deepEqual(run.events("landing.lost")[0]?.members, [{ task: "t.1", attempt: 1 }]);
    assert.deepEqual(run.closed, {
      how: "incomplete",
      left: ["t.1 (a) landed as commit-1, but was taken back: somebody moved the target"],
    });
  });

  test("is told to the root's planner, who may have it done again", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.wait(10 * MINUTE);
    taken(run);
    run.check();
    run.plan("t", [task("b")]); // The planner was asked before that happened.
    run.finish("t.2");
    run.wait(10 * MINUTE);
    if (run.running("check").length > 0) run.check();
    const [concern] = run.brief("plan", "t").concerns;
    assert.match(concern?.text ?? "", /t\.1 \(a\) landed as commit-1, but was taken back/);
    run.plan("t", [], { done: true, addressed: [{ concern: concern!.id, by: "b" }] });
    if (run.running("check").length > 0) run.check();
    assert.equal(run.closed?.how, "done");
  });

  test("and is back again, is nothing to speak of", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.plan("t", [], { done: true });
    taken(run);
    const members = [{ task: "t.1" as TaskId, attempt: 1 }];
    run.check([], "", { tip: "commit-1", landings: [{ commit: "commit-1", members }] });
    run.check();
    assert.equal(run.closed?.how, "done");
  });

  test("and was the whole goal, done by one worker, is said too", () => {
    const run = CoreRun.green();
    run.plan("t", [], { done: true });
    assert.equal(run.is("t"), "open");
    run.work("t", { filesChanged: ["a.ts"] });
    run.land();
    taken(run);
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.match(run.closed?.left.join() ?? "", /t \(.*\) landed as commit-1, but was taken back/);
  });
});

describe("the end of a run", () => {
  test("is not declared on an old look, but the gate is not run again for it", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.wait(60 * MINUTE);
    run.check();
    run.now += MINUTE;
    run.plan("t", [], { done: true });
    assert.deepEqual(run.events("run.closed"), []);
    assert.ok(run.brief("check").seen, "the tip was green: it is only looked where the target is");
    run.check();
    assert.equal(run.closed?.how, "done");
  });
});

describe("a run that was seen to be done", () => {
  const seen = () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.plan("t", [], { done: true });
    run.wait(MINUTE);
    run.check();
    assert.equal(run.closed?.how, "done");
    const last = run.log.findLastIndex(({ type }) => type === "target.checked");
    return { state: replay(run.log.slice(0, last + 1)), run };
  };

  test("closes in the moment in which it was seen", () => {
    const { state, run } = seen();
    assert.equal(due(state, run.policy, run.now).facts.at(-1)?.type, "run.closed");
  });

  test("is looked at again when it closes any later: somebody may have put the target back", () => {
    const { state, run } = seen();
    const [first, ...more] = due(state, run.policy, run.now + 1).facts;
    assert.ok(first?.type === "job.started" && first.job.kind === "check" && more.length === 0);
  });

  test("is not called done when that look fails again and again", () => {
    const { state, run } = seen();
    let at = run.now;
    const add = (facts: readonly Fact[]) => {
      for (const fact of facts) evolve(state, { ...fact, at });
    };
    const outcome = { is: "failed", failure: failure("repository", "no gate") } as const;
    for (let n = 0; n < run.policy.sweep.maxErrorsInARow; n += 1) {
      at += 60 * MINUTE;
      add(due(state, run.policy, at).facts);
      const [job] = state.running.keys();
      add(decide(state, { type: "ended", job: job!, outcome, at }, run.policy));
    }
    add(due(state, run.policy, at).facts);
    assert.deepEqual(state.closed, {
      how: "incomplete",
      left: ["the target could not be checked as it stands"],
    });
  });
});
