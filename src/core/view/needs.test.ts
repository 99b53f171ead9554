/** Tests that people are told of everything that only a person can do, and of nothing else. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { failure } from "../failure.ts";
import type { TaskId } from "../task.ts";
import { canResume, needsOf } from "./needs.ts";
import { nothingSeen, type RunView, viewOf } from "./view.ts";

const task = { task: "t.1" as TaskId, name: "words" };
const open = viewOf(nothingSeen());
const broken: RunView = {
  ...open,
  is: "proposed",
  gateChanges: [
    { ...task, is: "proposed", flags: ["test script"] },
    { ...task, is: "landed", flags: ["another"] },
  ],
  questions: [
    { ...task, question: "q1", text: "Which?", until: 1 },
    { ...task, question: "q2", text: "Which?", until: 1, with: "calendar" },
  ],
  accounts: [
    { account: "a", is: "refused", reason: "wrong key" },
    { account: "b", is: "parked", until: 1, reason: "quota" },
  ],
  setup: failure("setup", "no disk"),
};

it("names what waits for a person, not what waits for time or for another task", () => {
  assert.deepEqual(
    needsOf(broken).map(({ is }) => is),
    ["plan", "gate-change", "question", "account", "setup"],
  );
  assert.deepEqual(needsOf(open), []);
  assert.deepEqual(needsOf({ ...broken, times: { ...open.times, closedAt: 1 } }), [], "a run that is over");
});

it("offers to resume where that tries something again", () => {
  assert.equal(canResume(open), false);
  assert.equal(canResume({ ...open, is: "paused" }), true);
  assert.equal(canResume(broken), true);
  assert.equal(canResume({ ...broken, accounts: [], setup: undefined as never }), false);
});
