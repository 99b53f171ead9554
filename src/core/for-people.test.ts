import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task as taskOf } from "../../test/support/core-run.ts";
import type { Event } from "./event.ts";
import { failure } from "./failure.ts";
import { forPeople, wordsForPeople } from "./for-people.ts";
import { readPlanAnswer } from "./plan-answer.ts";
import type { TaskId } from "./task.ts";
import { nothingSeen, see, viewOf } from "./view.ts";

const task = (id: string, scope = '["a"]') =>
  `{"id":"${id}","description":"d","acceptance":"a","scope":${scope}}`;

/** Each is refused with words of its own. */
const ANSWERS = [
  "",
  "no plan today",
  '{"tasks": [',
  '{"scratchpad":""}',
  '{"scratchpad":"", "tasks": [{] }',
  `{"tasks":[${task("a")}]} {"tasks":[]}`,
  '{"error":"no", "tasks":[]}',
  `{"tasks":[${task("a")},${task("a")}]}`,
  `{"tasks":[${task("a", "[]")}]}`,
  "x".repeat(3_000_000),
];

test("why a plan was refused is said to people without what its planner is to send", () => {
  for (const answer of ANSWERS) {
    const read = readPlanAnswer(answer);
    assert.ok(read.is !== "answer", answer.slice(0, 80));
    const said = read.reasons.join("; ");
    const shown = wordsForPeople(said);
    assert.doesNotMatch(shown, /; (?:send|answer|give|name|a new task)\b/, said);
    assert.ok(shown.length > 10 && said.startsWith(shown.slice(0, 10)), shown);
  }
});

test("what an attempt is told to try is no advice for people; what a person can do is", () => {
  const red = failure("gate-red", "the gate is red with it", "make the gate pass on the current target");
  assert.deepEqual(forPeople(red), failure("gate-red", "the gate is red with it"));
  const disk = failure("repository", "the disk is full", "make room");
  assert.deepEqual(forPeople(disk), disk);
});

test("of a run that is closed nobody is told to resume it", () => {
  const run = CoreRun.planned([taskOf("a")]);
  const full = failure("repository", "the disk is full", "make room on that disk, and resume");
  const failed: Event = { type: "task.failed", task: "t.1" as TaskId, failure: full, at: 1_000 };
  const closed: Event = {
    type: "run.closed",
    how: "failed",
    left: [`${full.message}: ${full.next}`],
    at: 2_000,
  };
  const open = viewOf([...run.log, failed].reduce(see, nothingSeen()));
  assert.equal(open.undone[0]?.next, full.next);
  const over = viewOf([...run.log, failed, closed].reduce(see, nothingSeen()));
  const instead = "make room on that disk, and start another run: the target keeps what landed";
  assert.deepEqual([over.undone[0]?.next, over.left], [instead, [`the disk is full: ${instead}`]]);
});
