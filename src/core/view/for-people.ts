/** Which part of a failure is for people? Advice for the next attempt, or for the planner, is left out here. */
import type { Failure, FailureKind } from "../failure.ts";

export function forPeople({ next, ...why }: Failure): Failure {
  return next === undefined || FOR_AGENTS.has(why.kind) ? why : { ...why, next };
}

/** Of these kinds, `next` tells an agent how to do better. */
const FOR_AGENTS: ReadonlySet<FailureKind> = new Set([
  "plan-unreadable",
  "plan-invalid",
  "empty-change",
  "out-of-scope",
  "rule-broken",
  "unmet",
  "conflict",
  "gate-red",
]);
