/** Tests which failures count as losses, and that a missing advice stays missing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type FailureKind, failure, isLoss } from "./failure.ts";

test("a failure without advice has no advice, not an empty one: it must survive being stored", () => {
  const stored = failure("conflict", "two tasks changed a.ts");
  assert.deepEqual(Object.keys(stored), ["kind", "message"]);
  assert.deepEqual(JSON.parse(JSON.stringify(stored)), stored);
  assert.equal(failure("budget", "all is spent", "raise the limit").next, "raise the limit");
});

test("only a job that vanished, or never reached its agent or account, is a loss: everything else counts against the task", () => {
  const losses: readonly FailureKind[] = [
    "timed-out",
    "interrupted",
    "agent-unreachable",
    "quota",
    "authentication",
  ];
  const charged: readonly FailureKind[] = ["agent-failed", "gate-red", "conflict", "cancelled"];
  for (const kind of losses) assert.ok(isLoss(failure(kind, "")), kind);
  for (const kind of charged) assert.ok(!isLoss(failure(kind, "")), kind);
});
