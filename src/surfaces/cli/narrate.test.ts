import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../../core/event.ts";
import { evolve } from "../../core/evolve.ts";
import { failure } from "../../core/failure.ts";
import { jobId } from "../../core/job.ts";
import { emptyState } from "../../core/state.ts";
import { ROOT } from "../../core/task.ts";
import { narrate } from "./narrate.ts";

function opened() {
  const state = emptyState();
  const spec = {
    key: "t",
    description: "g",
    acceptance: "",
    scope: ["./"],
    after: [],
    priority: 5,
    delivers: "change",
    shape: "plan",
    slug: "g",
  } as const;
  evolve(state, { type: "run.opened", request: { run: "r1", goal: "g", base: "c0" }, spec, at: 0 });
  return state;
}

test("a planner that could not be reached is told of with the reason", () => {
  const event: Event = {
    type: "plan.rejected",
    task: ROOT,
    failure: failure("agent-unreachable", "the server did not answer"),
    reasons: [],
    retryAt: 0,
    charge: "unreachable",
    at: 0,
  };
  assert.match(narrate(event, opened())!.text, /the server did not answer$/);
});

test("what an agent wrote cannot move the cursor, change colours or fill the screen", () => {
  const hostile = `\u001b]0;owned\u0007\u001b[2J${"x".repeat(100_000)}`;
  const event: Event = { type: "task.failed", task: ROOT, failure: failure("agent-failed", hostile), at: 0 };
  const { text } = narrate(event, opened())!;
  assert.doesNotMatch(text, /\p{C}/u);
  assert.ok(text.length <= 500);
});

test("what people did and what a restart interrupted is told, and nobody is blamed for it", () => {
  const state = opened();
  const said = (event: Event) => narrate(event, evolve(state, event))?.text;
  assert.equal(said({ type: "run.paused", at: 1 }), "paused: no new work is started");
  assert.equal(said({ type: "run.resumed", at: 2 }), "the pause is over");
  const job = { kind: "plan", task: ROOT, turn: 1 } as const;
  said({ type: "job.started", job, until: 9, at: 3 });
  const ended = said({ type: "job.ended", job: jobId(job), how: "interrupted", at: 4 });
  assert.match(ended!, /^plan:t#1 was interrupted: .*nobody is charged/);
});

test("a commit is told by its first digits", () => {
  const state = opened();
  const event: Event = {
    type: "batch.landed",
    members: [{ task: ROOT, attempt: 1 }],
    commit: "0123456789abcdef0123456789abcdef01234567",
    proof: "green",
    flaky: [],
    at: 1,
  };
  assert.equal(narrate(event, state)!.text, "the goal landed as 0123456789");
});
