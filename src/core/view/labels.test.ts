/** Are a run and its tasks called what people would say, and is nobody at work in a run that stopped? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { runLabel, runningIn, runWord, stateLabel, taskLabel, waitingIn } from "./labels.ts";
import { calmLabel } from "./needs.ts";
import { nothingSeen, see, viewOf } from "./view.ts";

const viewOfRun = (run: CoreRun) => viewOf(run.log.reduce(see, nothingSeen()));

test("an open run that no process drives is stopped, a closed one is what it ended as", () => {
  const run = CoreRun.planned([task("a")]);
  assert.equal(runWord(viewOfRun(run), true), "running");
  assert.equal(runWord(viewOfRun(run), undefined), "running", "nobody has asked");
  assert.equal(runWord(viewOfRun(run), false), "stopped");
  run.finish("t.1");
  run.plan("t", []);
  run.check();
  assert.equal(runWord(viewOfRun(run), false), "done");
  assert.equal(runLabel("proposed"), "waiting for your approval");
});

test("in a stopped run, who was at work is interrupted, and nothing runs", () => {
  assert.equal(taskLabel("working", "running"), "working");
  for (const word of ["planning", "working", "gating"] as const)
    assert.equal(taskLabel(word, "stopped"), "interrupted");
  assert.equal(taskLabel("ready", "stopped"), "ready");
  const view = viewOfRun(CoreRun.planned([task("a")]));
  assert.equal(runningIn(view, "running").length, 1);
  assert.deepEqual(runningIn(view, "stopped"), []);
});

test("a task is called what people would say", () => {
  assert.equal(taskLabel("parked", "running"), "queued");
  assert.equal(taskLabel("gating", "running"), "in the gate");
});

test("what is in the gate does not wait in the queue", () => {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.work("t.1"); // In the gate at once.
  run.work("t.2");
  const view = viewOfRun(run);
  assert.deepEqual(
    [view.queue, waitingIn(view)].map((tasks) => tasks.map(({ name }) => name)),
    [["a", "b"], ["b"]],
  );
});

test("a task's state says which attempt it is, from the second on", () => {
  assert.equal(stateLabel({ word: "landing", attempts: 1 }, "running"), "ready to land");
  assert.equal(stateLabel({ word: "working", attempts: 2 }, "running"), "working, attempt 2");
});

test("a run that goes on and needs nobody says so; one that is stopped, paused or over does not", () => {
  const run = CoreRun.planned([task("a")]);
  assert.equal(calmLabel(viewOfRun(run), "running"), "needs you: nothing");
  for (const word of ["stopped", "paused", "done"] as const)
    assert.equal(calmLabel(viewOfRun(run), word), "");
  const questions = [{ question: "q1", text: "which?", task: "t.1", name: "a", until: 1 }] as never;
  assert.equal(calmLabel({ ...viewOfRun(run), questions }, "running"), "");
});
