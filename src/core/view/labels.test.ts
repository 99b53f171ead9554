/** Tests the words for runs and tasks, and that no agent is called at work in a stopped run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import type { Member } from "../job.ts";
import {
  doneLabel,
  healthLabel,
  phaseLabel,
  runLabel,
  runningIn,
  runWord,
  stateLabel,
  taskLabel,
  waitingIn,
} from "./labels.ts";
import { calmLabel, endLabel } from "./needs.ts";
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
  assert.equal(doneLabel(viewOfRun(run)), "1 of 1 task done");
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
  run.work("t.1"); // It is in the gate at once.
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

test("a bisection says which tasks it is about, and that the target has none of them", () => {
  const members = ["t.1", "t.2", "t.3"].map((id) => ({ task: id })) as unknown as readonly Member[];
  const bisect = { is: "bisect", suspects: [], reds: 0, guilty: members } as const;
  const label = (count: number, of = members) =>
    phaseLabel({ ...bisect, guilty: of, next: of.slice(0, count) }, (id) => id);
  const end = "together they fail the gate; the target is not affected";
  assert.equal(label(1), `Bisecting 3 tasks (t.1 + 2 queued): ${end}`);
  assert.equal(label(3), `Bisecting 3 tasks (3 gated): ${end}`);
  assert.equal(label(1, members.slice(0, 1)), "Bisecting: the other tasks pass the gate; testing t.1 alone");
});

test("a run that is over says where its work is and what to type next, unless the gate fails there", () => {
  const run = CoreRun.planned([task("a")]);
  const delivery = { branch: "skein/x", command: "skein deliver x" };
  assert.equal(doneLabel(viewOfRun(run)), "0 done of 1 task so far");
  assert.equal(endLabel(viewOfRun(run), delivery), "", "it goes on");
  run.finish("t.1");
  run.plan("t", []);
  run.check();
  const over = viewOfRun(run);
  assert.equal(endLabel(over, delivery), "The work is on branch skein/x. Next: skein deliver x");
  assert.match(endLabel({ ...over, is: "incomplete" }, delivery), /Next: skein deliver x --partial$/);
  assert.equal(healthLabel(over), "all gate commands pass");
  const red = { ...over, target: { ...over.target, health: "red" as const } };
  assert.equal(healthLabel(red), "gate commands fail");
  assert.match(endLabel(red, delivery), /gate commands fail: .* only with skein deliver --red, and only if/);
  assert.doesNotMatch(endLabel(red, delivery), /Next:/);
  const none = { ...over, tally: { ...over.tally, gate: { ...over.tally.gate, landings: 0 } } };
  assert.match(endLabel(none, delivery), /^Nothing landed/);
});

test("a run that goes on and needs nobody says so; one that is stopped, paused or over does not", () => {
  const run = CoreRun.planned([task("a")]);
  assert.equal(calmLabel(viewOfRun(run), "running"), "Nothing needs you");
  for (const word of ["stopped", "paused", "done"] as const)
    assert.equal(calmLabel(viewOfRun(run), word), "");
  const questions = [{ question: "q1", text: "which?", task: "t.1", name: "a", until: 1 }] as never;
  assert.equal(calmLabel({ ...viewOfRun(run), questions }, "running"), "");
});
