/** Tests which tasks a folded tree shows, and its counts of hidden tasks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobId } from "../job.ts";
import type { Event } from "../log/event.ts";
import type { TaskId, TaskSpec } from "../task.ts";
import { foldedTree } from "./folded-tree.ts";
import { nothingSeen, see } from "./view.ts";

const spec = (key: string, shape: TaskSpec["shape"]): TaskSpec => ({
  ...{ key, shape, description: key, acceptance: "", scope: [], after: [], priority: 5, slug: key },
  delivers: "change",
});

const split = (task: string, into: Readonly<Record<string, TaskSpec["shape"]>>): readonly Event[] => [
  { type: "job.started", at: 2, job: { kind: "plan", task: task as TaskId, turn: 1 }, until: 9 },
  { type: "job.ended", at: 2, job: `plan:${task}#1` as JobId, how: "answered" },
  {
    ...{ type: "plan.accepted", at: 2, task: task as TaskId, replanAfter: 1, notes: [] },
    into: Object.entries(into).map(([id, shape]) => ({ id: id as TaskId, rank: 5, spec: spec(id, shape) })),
    said: { scratchpad: "", addressed: [], heard: 0, steers: 0 },
  },
];

/** Two levels below `t.1`, of which one task is at work and one has failed. */
function state(isOffered = false) {
  const seen = nothingSeen();
  const request = { run: "r", goal: "g", base: "b" };
  const job = { kind: "work", task: "t.1.2.1" as TaskId, attempt: 1 } as const;
  const failure = { kind: "agent-failed", message: "no" } as const;
  for (const event of [
    { type: "run.opened", at: 1, request, spec: spec("goal", "plan") },
    ...split("t", { "t.1": "plan", "t.2": "work" }),
    ...split("t.1", { "t.1.1": "work", "t.1.2": "plan" }),
    ...split("t.1.2", { "t.1.2.1": "work" }),
    { type: "job.started", at: 3, job, until: 9, ...(isOffered && { isOffered }) },
    { type: "task.failed", at: 4, task: "t.1.1" as TaskId, failure },
  ] as readonly Event[])
    see(seen, event);
  return seen.state;
}

const shown = (...unfolded: readonly string[]) =>
  foldedTree(state(), (task) => unfolded.includes(task)).map(
    ({ task, isFolded }) => `${isFolded ? "+" : ""}${task}`,
  );

test("subplans are folded until they are unfolded, each by itself", () => {
  assert.deepEqual(shown(), ["t", "+t.1", "t.2"]);
  assert.deepEqual(shown("t.1"), ["t", "t.1", "t.1.1", "+t.1.2", "t.2"]);
  assert.deepEqual(shown("t.1.2"), ["t", "+t.1", "t.2"]);
  assert.deepEqual(shown("t.1", "t.1.2"), ["t", "t.1", "t.1.1", "t.1.2", "t.1.2.1", "t.2"]);
});

test("a folded task counts everything below it, at any depth", () => {
  const [, first, second] = foldedTree(state());
  assert.deepEqual(first?.below, { tasks: 3, done: 0, failed: 1, atWork: 1 });
  const [, waiting] = foldedTree(state(true));
  assert.equal(waiting?.below.atWork, 0, "a task that waits for a machine is not at work");
  assert.deepEqual(second?.below, { tasks: 0, done: 0, failed: 0, atWork: 0 });
});
