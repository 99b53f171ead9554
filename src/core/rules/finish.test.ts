/** Tests concerns, how planners' tasks are settled, and how a run ends. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, large, MINUTE, task } from "../../../test/support/core-run.ts";

const parts = (...names: string[]) => names.map((name) => task(name, { scope: [`m/${name}.ts`] }));

describe("concerns", () => {
  test("are numbered, and carried in every brief until the planner says that they are dealt with", () => {
    const run = CoreRun.planned(["a", "b", "c", "d", "e"].map((id) => task(id)));
    run.work("t.1", { concerns: ["the name is odd", "no docs"] });
    run.land();
    run.finish("t.2", "t.3");
    const texts = () => run.brief("plan", "t").concerns.map((c) => [c.id, c.from, c.text]);
    const [odd, docs] = [
      ["c1", "t.1", "the name is odd"],
      ["c2", "t.1", "no docs"],
    ];
    assert.deepEqual(texts(), [odd, docs]);
    run.fail("plan", "t", "plan-unreadable");
    assert.deepEqual(texts(), [odd, docs], "a failed turn addresses nothing");
    run.plan("t", [], { addressed: [{ concern: "c1" }] });
    run.finish("t.4", "t.5");
    assert.deepEqual(texts(), [docs]);
  });

  test("are raised by a child that failed or was skipped", () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] })]);
    run.failForGood("t.1");
    assert.deepEqual(
      run.brief("plan", "t").concerns.map((c) => [c.from, c.kind]),
      [
        ["t.1", "undone"],
        ["t.2", "undone"],
      ],
    );
  });

  test("that nobody raised are not addressed by naming them", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.failForGood("t.1");
    run.finish("t.2");
    run.plan("t", [task("c")], { addressed: [{ concern: "c7" }] });
    run.finish("t.3");
    assert.equal(run.brief("plan", "t").concerns.length, 1);
    assert.match(run.brief("plan", "t").notes.join(), /"c7" is not an open concern/);
  });

  test("do not keep a run from being done, unless something is left undone", () => {
    const run = CoreRun.planned([task("a")]);
    run.work("t.1", { concerns: ["the name is odd"] });
    run.land();
    run.plan("t", []);
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });
});

describe("a planner's task", () => {
  const split = (...names: string[]) => {
    const run = CoreRun.planned([task("m", { scope: ["m/"] }), task("other", { after: ["m"] })]);
    run.plan("t.1", parts(...names));
    return run;
  };

  test("is done when all its children are, with one handoff for all of them", () => {
    const run = split("a", "b");
    run.work("t.1.1", { concerns: ["odd"], suggestions: ["rename"] });
    run.land();
    run.plan("t.1", []);
    run.finish("t.1.2");
    run.plan("t.1", []);
    assert.equal(run.is("t.1"), "done");
    const { state } = run.task("t.1");
    assert.ok(state.is === "done" && state.handoff.status === "complete");
    assert.deepEqual(state.handoff.concerns, ["[a] odd"]);
    assert.deepEqual(state.handoff.suggestions, ["[a] rename"]);
    assert.deepEqual(state.handoff.filesChanged, ["m/a.ts", "m/b.ts"]);
    assert.deepEqual(run.running("work"), ["work:t.2#1"], "what waited for it starts");
  });

  test("is done when some are, and what is missing becomes the concern of the planner above", () => {
    const run = split("a", "b");
    run.finish("t.1.1");
    run.plan("t.1", []);
    run.failForGood("t.1.2");
    run.plan("t.1", []);
    assert.equal(run.is("t.1"), "done");
    run.finish("t.2");
    assert.match(
      run
        .brief("plan", "t")
        .concerns.map((c) => c.text)
        .join(),
      /m: b failed: agent-failed/,
    );
    run.plan("t", []);
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.deepEqual(run.closed!.left, ["m: b failed: agent-failed (3 times)"]);
  });

  test("is whole when another part took the place of the one that failed", () => {
    const run = split("a", "b");
    run.failForGood("t.1.2");
    run.finish("t.1.1");
    run.plan("t.1", [task("b2", { scope: ["m/b.ts"] })], { addressed: [{ concern: "c1", by: "b2" }] });
    run.finish("t.1.3");
    while (run.isAsked("t.1")) run.plan("t.1", []);
    const { state } = run.task("t.1");
    assert.ok(state.is === "done" && state.handoff.status === "complete");
    run.finish("t.2");
    run.plan("t", []);
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("has failed when all of them have, and what waits for it is skipped", () => {
    const run = split("a", "b");
    run.failForGood("t.1.1");
    run.plan("t.1", []);
    run.failForGood("t.1.2");
    run.plan("t.1", []);
    assert.deepEqual([run.is("t.1"), run.is("t.2")], ["failed", "skipped"]);
  });

  test("has failed when none is done, some of them because others failed", () => {
    const run = CoreRun.planned([large("m")]);
    run.plan("t.1", [...parts("a"), task("b", { scope: ["m/b.ts"], after: ["a"] })]);
    run.failForGood("t.1.1");
    run.plan("t.1", []);
    assert.equal(run.is("t.1"), "failed");
  });

  test("is part of a part: done below, it is not called nothing above", () => {
    const run = CoreRun.planned([large("m")]);
    run.plan("t.1", parts("a", "b"));
    run.finish("t.1.1");
    run.plan("t.1", []);
    run.failForGood("t.1.2");
    run.plan("t.1", []);
    run.plan("t", []);
    run.check();
    assert.deepEqual(run.closed, { how: "incomplete", left: ["m: b failed: agent-failed (3 times)"] });
    assert.equal(run.is("t"), "done");
  });

  test("says which of its files were in no task, and is not complete unless it said why", () => {
    const done = (deferred: readonly { files: readonly string[]; reason: string }[]) => {
      const run = CoreRun.planned([task("m", { scope: ["m/a.ts", "m/b.ts", "m/c.ts", "m/d.ts"] })]);
      run.plan("t.1", [task("a", { scope: ["m/a.ts", "m/b.ts", "m/c.ts"] })], { deferred });
      run.finish("t.1.1");
      run.plan("t.1", []);
      const { state } = run.task("t.1");
      assert.ok(state.is === "done");
      return [state.handoff.status, state.handoff.concerns];
    };
    assert.deepEqual(done([]), ["partial", ["m/d.ts was in no task"]]);
    assert.deepEqual(done([{ files: ["m/d.ts"], reason: "not needed" }]), [
      "complete",
      ["m/d.ts was deferred: not needed"],
    ]);
  });

  test("made good one level up, it counts as whole there", () => {
    const run = CoreRun.planned([task("m", { scope: ["m/"] })]);
    run.plan("t.1", parts("a", "b"));
    run.finish("t.1.1");
    run.plan("t.1", []);
    run.failForGood("t.1.2");
    run.plan("t.1", []);
    const [concern] = run.brief("plan", "t").concerns;
    run.plan("t", [task("b", { scope: ["m/b.ts"] })], { addressed: [{ concern: concern!.id, by: "b" }] });
    run.finish("t.2");
    run.plan("t", []);
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("whose part was only partly done is whole once another part did the rest", () => {
    const run = CoreRun.planned([task("m", { scope: ["m/"] })]);
    run.plan("t.1", [task("part", { scope: ["m/deep/"] })]);
    run.plan("t.1.1", [task("x", { scope: ["m/deep/x.ts"] }), task("y", { scope: ["m/deep/y.ts"] })]);
    run.finish("t.1.1.1");
    run.plan("t.1.1", []);
    run.failForGood("t.1.1.2");
    run.plan("t.1.1", []);
    const [concern] = run.brief("plan", "t.1").concerns;
    assert.equal(concern!.text, "part: y failed: agent-failed (3 times)");
    run.plan("t.1", [task("y", { scope: ["m/deep/y.ts"] })], {
      addressed: [{ concern: concern!.id, by: "y" }],
    });
    run.finish("t.1.2");
    run.plan("t.1", []);
    const { state } = run.task("t.1");
    assert.ok(state.is === "done" && state.handoff.status === "complete");
  });

  test("of which nothing was done has failed, although its planner has dealt with every failure", () => {
    const run = split("a");
    run.failForGood("t.1.1");
    run.plan("t.1", [], { addressed: [{ concern: "c1", because: "it is not needed" }] });
    assert.deepEqual([run.is("t.1"), run.is("t.2")], ["failed", "skipped"]);
  });

  test("whose planner was given up is not called complete", () => {
    const run = CoreRun.planned([large("m")], { subplanner: { maxErrorsInARow: 1 } });
    run.plan("t.1", parts("a"));
    run.finish("t.1.1");
    run.fail("plan", "t.1", "agent-failed", "gone mad");
    run.plan("t", []);
    run.check();
    assert.equal(run.closed?.how, "incomplete");
    assert.match(run.closed!.left.join(), /m: .*gone mad/);
  });
});

describe("a run ends", () => {
  test("done, only after the target was seen green as it stands", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.plan("t", []);
    assert.equal(run.closed, undefined);
    assert.equal(run.brief("check").tip, "commit-1");
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("incomplete, with a failed task that nobody has dealt with, by name and reason", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.failForGood("t.1");
    run.finish("t.2");
    run.plan("t", []);
    run.check();
    assert.deepEqual(run.closed, { how: "incomplete", left: ["a failed: agent-failed (3 times)"] });
  });

  test("failed, when nothing was done", () => {
    const run = CoreRun.planned([task("a")]);
    run.failForGood("t.1");
    run.plan("t", []);
    assert.equal(run.closed?.how, "failed");
    assert.match(run.closed!.left.join("\n"), /a failed: agent-failed \(3 times\)/);
  });

  test("failed, when the one worker that had the goal failed", () => {
    const run = CoreRun.planned([]);
    run.failForGood("t");
    assert.equal(run.closed?.how, "failed");
    assert.match(run.closed!.left.join(), /agent-failed \(3 times\)/);
  });

  test("incomplete, when the target could not be checked", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.plan("t", []);
    for (let n = 0; n < 5; n += 1) {
      run.checkFailed();
      run.wait(10 * MINUTE);
      if (run.closed) break;
    }
    if (!run.closed) run.checkFailed();
    assert.deepEqual(run.closed, {
      how: "incomplete",
      left: ["the target could not be checked as it stands"],
    });
  });

  test("done, although one fix failed, when another has healed the target after the plan was over", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.plan("t", []);
    run.checkRed();
    run.failForGood("t.2");
    run.wait(MINUTE);
    run.check(["test: x"]);
    run.finish("t.3");
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("once: nothing that is said later changes it", () => {
    const run = CoreRun.planned([]);
    run.finish("t");
    run.check();
    const events = run.log.length;
    run.say({ type: "steer", message: "go on" });
    run.say({ type: "cancel" });
    run.wait(60 * MINUTE);
    assert.equal(run.log.length, events);
  });
});
