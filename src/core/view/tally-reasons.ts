/** For which reasons does an attempt come to nothing, as people speak of them? */
import type { Failure, FailureKind } from "../failure.ts";

export type LossReason =
  | "conflict"
  | "gate red"
  | "out of scope"
  | "empty change"
  | "rule broken"
  | "terms not kept"
  | "not finished"
  | "failed"
  | "died"
  | "timed out"
  | "outage"
  | "quota"
  | "key refused"
  | "plan of no use"
  /** The last of several turns of a planner in vain; why that one was, its failure only says in words. */
  | "given up"
  | "the machine"
  | "other";

export const reasonOf = ({ kind }: Failure): LossReason => REASONS[kind];

const REASONS: Readonly<Record<FailureKind, LossReason>> = {
  "agent-failed": "failed",
  "agent-unreachable": "outage",
  quota: "quota",
  authentication: "key refused",
  "timed-out": "timed out",
  interrupted: "died",
  "plan-unreadable": "plan of no use",
  "plan-invalid": "plan of no use",
  "not-a-planner": "plan of no use",
  incomplete: "not finished",
  "empty-change": "empty change",
  "out-of-scope": "out of scope",
  "rule-broken": "rule broken",
  unmet: "terms not kept",
  conflict: "conflict",
  "gate-red": "gate red",
  "target-red": "other",
  "children-failed": "other",
  "planner-gave-up": "given up",
  repository: "the machine",
  log: "the machine",
  setup: "the machine",
  budget: "other",
  policy: "other",
  cancelled: "other",
};
