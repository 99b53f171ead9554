import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../../core/event.ts";
import { evolve } from "../../core/evolve.ts";
import { failure } from "../../core/failure.ts";
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
