/** Tests the commands pause, resume, steer, cancel and open. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CoreRun, large, MINUTE, task } from "../../../test/support/core-run.ts";
import { emptyState } from "../log/state.ts";
import type { TaskId } from "../task.ts";
import { decide } from "./decide.ts";
import { defaultPolicy } from "./policy.ts";

const cancel = (run: CoreRun, id?: string, reason?: string) =>
  run.say({ type: "cancel", ...(id && { task: id as TaskId }), ...(reason && { reason }) });

describe("pause and resume", () => {
  test("starts no agent while paused; what is finished still lands", () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] })]);
    run.say({ type: "pause" });
    run.finish("t.1");
    assert.equal(run.is("t.1"), "done");
    run.wait(60 * MINUTE);
    assert.deepEqual([run.running("work"), run.running("plan")], [[], []]);
    run.say({ type: "resume" });
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("is said once, however often it is asked for", () => {
    const run = CoreRun.planned([task("a")]);
    assert.deepEqual(run.say({ type: "resume" }), []);
    run.say({ type: "pause" });
    assert.deepEqual(run.say({ type: "pause" }), []);
  });

  test("takes up an answer that comes while paused", () => {
    const run = CoreRun.green();
    run.say({ type: "pause" });
    run.plan("t", [task("a")]);
    assert.equal(run.is("t.1"), "open");
    assert.deepEqual(run.running("work"), []);
  });
});

describe("a steering message", () => {
  test("wakes a planner that waits for news", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    assert.ok(!run.isAsked("t"));
    run.say({ type: "steer", message: "use tabs" });
    assert.deepEqual(run.brief("plan", "t").steers, ["use tabs"]);
  });

  test("that comes during a turn is heard in the next one, and each is heard once", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "steer", message: "first" });
    run.say({ type: "steer", message: "second" });
    assert.deepEqual(run.brief("plan", "t").steers, ["first"]);
    run.plan("t", []);
    assert.deepEqual(run.brief("plan", "t").steers, ["second"]);
    run.plan("t", []);
    assert.ok(!run.isAsked("t"));
  });

  test("survives a failed turn", () => {
    const run = CoreRun.planned([task("a")]);
    run.say({ type: "steer", message: "use tabs" });
    run.fail("plan", "t", "plan-unreadable");
    assert.deepEqual(run.brief("plan", "t").steers, ["use tabs"]);
  });

  test("reopens a plan that was finished, as long as the run is not closed", () => {
    const run = CoreRun.planned([task("a")]);
    run.finish("t.1");
    run.plan("t", []);
    assert.deepEqual(run.running(), ["check#2"], "only the last look is missing");
    run.say({ type: "steer", message: "one more thing" });
    run.check();
    assert.ok(run.isAsked("t"));
    run.plan("t", [task("b")]);
    run.finish("t.2");
    run.plan("t", []);
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("gives a planner that was given up another chance", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c"), task("d")], {
      root: { maxErrorsInARow: 1 },
    });
    run.finish("t.1", "t.2", "t.3");
    run.fail("plan", "t", "plan-unreadable");
    run.say({ type: "steer", message: "try again" });
    assert.ok(run.isAsked("t"));
  });

  test("before the first answer reaches the worker that gets the whole goal", () => {
    const run = CoreRun.green();
    run.say({ type: "steer", message: "use tabs" });
    run.plan("t", []);
    assert.deepEqual(run.brief("work", "t").steers, ["use tabs"]);
  });

  test("is refused with the reason where no planner could hear it", () => {
    const run = CoreRun.planned([]);
    run.say({ type: "steer", message: "use tabs" });
    assert.match(run.events("command.refused")[0]!.reason, /one worker has the whole goal/);
  });

  test("is for the root planner alone", () => {
    const run = CoreRun.planned([large("m")]);
    run.say({ type: "steer", message: "use tabs" });
    assert.deepEqual(run.brief("plan", "t.1").steers, []);
  });
});

describe("cancelling a task", () => {
  test("stops its worker, skips what waits for it, and tells the planner", () => {
    const run = CoreRun.planned([task("a"), task("b", { after: ["a"] })]);
    cancel(run, "t.1", "not wanted");
    assert.deepEqual([run.is("t.1"), run.is("t.2")], ["cancelled", "skipped"]);
    assert.deepEqual(run.events("job.ended").at(-1)!.how, "aborted");
    assert.deepEqual(
      run.brief("plan", "t").news.map((n) => n.end),
      ["cancelled", "skipped"],
    );
  });

  test("stops all that is below it, and nothing beside it", () => {
    const run = CoreRun.planned([large("m"), task("b")]);
    run.plan("t.1", [task("x", { scope: ["m/a.ts"] }), task("y", { scope: ["m/b.ts"] })]);
    run.finish("t.1.1");
    cancel(run, "t.1");
    assert.deepEqual(
      ["t.1", "t.1.1", "t.1.2", "t.2"].map((id) => run.is(id)),
      ["cancelled", "done", "cancelled", "open"],
    );
    assert.deepEqual(run.running(), ["work:t.2#1"], "its planner is not asked either");
  });

  test("that is split while one of its parts is being landed leaves that part to its landing", () => {
    const run = CoreRun.planned([large("m"), task("b")]);
    run.plan("t.1", [task("x", { scope: ["m/a.ts"] }), task("y", { scope: ["m/b.ts"] })]);
    run.work("t.1.1");
    cancel(run, "t.1");
    assert.deepEqual(
      ["t.1", "t.1.1", "t.1.2"].map((id) => run.is(id)),
      ["cancelled", "landing", "cancelled"],
    );
    run.land();
    assert.equal(run.is("t.1.1"), "done");
    assert.equal(run.state.unsettled, 1);
  });

  test("gives its files to who waits for them", () => {
    const run = CoreRun.planned([large("m"), task("b", { scope: ["m/a.ts"] })]);
    run.plan("t.1", [task("x", { scope: ["m/a.ts"] })]);
    cancel(run, "t.1");
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("that waits to be tried again ends the wait", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.fail("work", "t.1", "interrupted");
    cancel(run, "t.1");
    run.wait(10 * MINUTE);
    assert.deepEqual(run.running("work"), ["work:t.2#1"]);
  });

  test("that waits in the landing queue takes it out", () => {
    const run = CoreRun.planned([task("a"), task("b"), task("c")]);
    for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
    cancel(run, "t.2");
    run.land();
    assert.deepEqual(run.candidate(), ["t.3"]);
  });

  test("does not keep the run from being done", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    cancel(run, "t.1");
    run.finish("t.2");
    run.plan("t", []);
    run.check();
    assert.deepEqual(run.closed, { how: "done", left: [] });
  });

  test("is refused with the reason where there is nothing to cancel", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.finish("t.1");
    for (const id of ["t.9", "t.1"]) cancel(run, id);
    assert.deepEqual(
      run.events("command.refused").map((e) => [e.command, e.reason]),
      [
        ["cancel t.9", "there is no such task"],
        ["cancel t.1", "it is done already"],
      ],
    );
  });
});

describe("cancelling the run", () => {
  test("stops everything and closes it, with the reason", () => {
    const run = CoreRun.planned([large("m"), task("b"), task("c", { after: ["b"] })]);
    cancel(run, undefined, "changed my mind");
    assert.deepEqual(run.closed, { how: "cancelled", left: ["cancelled: changed my mind"] });
    assert.deepEqual(run.running(), []);
    assert.deepEqual(
      ["t", "t.1", "t.2", "t.3"].map((id) => run.is(id)),
      Array(4).fill("cancelled"),
    );
  });

  test("waits for the landing that is under way, and starts no other", () => {
    const run = CoreRun.planned([task("a"), task("b")]);
    run.work("t.1");
    run.work("t.2");
    cancel(run);
    assert.deepEqual(run.running(), ["land#1"]);
    run.land();
    assert.equal(run.closed?.how, "cancelled");
    assert.deepEqual([run.is("t.1"), run.is("t.2")], ["done", "cancelled"]);
  });

  test("can be said by naming the root task", () => {
    const run = CoreRun.planned([task("a")]);
    cancel(run, "t");
    assert.equal(run.closed?.how, "cancelled");
  });

  test("stops a check, and does not wait for it", () => {
    const run = new CoreRun();
    cancel(run);
    assert.equal(run.closed?.how, "cancelled");
    assert.deepEqual(run.running(), []);
  });
});

test("a run is opened once; another run is refused in its log", () => {
  const run = CoreRun.green();
  const open = (id: string) => run.say({ type: "open", request: { run: id, goal: "g", base: "b" } });
  assert.deepEqual(open("r"), []);
  assert.deepEqual(
    open("other").map((e) => e.type),
    ["command.refused"],
  );
  assert.equal(run.state.request!.goal, "make it");
});

describe("what is said to a run", () => {
  test("is bounded: one message, and how many wait", () => {
    const run = CoreRun.planned([task("a")]);
    const { maxSteerChars, maxSteers } = run.policy.brief;
    run.say({ type: "steer", message: "x".repeat(maxSteerChars + 1) });
    assert.match(run.events("command.refused").at(-1)!.reason, /longer than/);
    for (let n = 0; n <= maxSteers; n += 1) run.say({ type: "steer", message: `${n}` });
    assert.match(run.events("command.refused").at(-1)!.reason, /messages are waiting already/);
    assert.equal(run.state.steers.length, maxSteers);
  });

  test("a name that git could not take is a defect of the caller", () => {
    const open = (name: string) =>
      decide(
        emptyState(),
        { type: "open", request: { run: name, goal: "g", base: "c0" }, at: 0 },
        defaultPolicy,
      );
    for (const name of ["--upload-pack=x", "a..b", "a/b", ""]) assert.throws(() => open(name), /branch name/);
    assert.equal(open("r1").length, 1);
  });
});
