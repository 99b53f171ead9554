/** Derives a job's outcome for the log from its answer and from the facts that were decided on it. */

import type { Failure, FailureKind } from "../failure.ts";
import { isGreen } from "../gate.ts";
import type { Job, JobOutcome, Outcome } from "../job.ts";
import type { Fact } from "../log/event.ts";

/** `facts`: those that follow from this answer, and no others. */
export function outcomeOf(job: Job, outcome: Outcome, facts: readonly Fact[]): JobOutcome {
  const failure = failureKind(job, outcome, facts);
  const came = cameTo(job, outcome, facts);
  if (!came) return { is: "failed", failure: failure ?? "repository" };
  return { ...came, ...(failure !== undefined && { failure }) };
}

/** Undefined if the answer counted as a failure, because this kind of job does not give it. */
function cameTo(job: Job, outcome: Outcome, facts: readonly Fact[]): JobOutcome | undefined {
  if (outcome.is === "failed" || !ANSWERS[job.kind].includes(outcome.is)) return undefined;
  const isDecided = (type: Fact["type"]) => facts.some((fact) => fact.type === type);
  switch (outcome.is) {
    case "landed":
      return isDecided("batch.landed") ? { is: "landed", proof: outcome.proof } : undefined;
    case "gated":
      return isDecided("candidate.passed") ? { is: "passed", proof: outcome.proof } : undefined;
    case "unmergeable":
      return facts.some(isLandingFailure) ? undefined : { is: "conflict" };
    case "red":
    case "gone":
    case "moved":
      return facts.some(isLandingFailure) ? undefined : { is: outcome.is };
    case "checked":
      if (!isDecided("target.checked")) return undefined;
      if (outcome.isKnown || outcome.passedAt !== undefined || outcome.report.commands.length === 0)
        return { is: "known" };
      return { is: isGreen(outcome.report) ? "passed" : "red" };
    case "probed":
      if (!isDecided("gate.probed")) return undefined;
      return { is: outcome.probed.is === "unproven" ? "red" : "passed" };
    default:
      return { is: outcome.is };
  }
}

const ANSWERS: Readonly<Record<Job["kind"], readonly Outcome["is"][]>> = {
  plan: ["planned", "answered", "passed-on"],
  work: ["worked", "called", "answered", "passed-on"],
  land: ["landed", "gated", "red", "unmergeable", "gone", "moved"],
  check: ["checked", "probed"],
};

/** Why the answer does not count: as the job said itself, else as it was judged. */
function failureKind(job: Job, outcome: Outcome, facts: readonly Fact[]): FailureKind | undefined {
  if (outcome.is === "failed") return outcome.failure.kind;
  for (const fact of facts) {
    const why = job.kind === "plan" || job.kind === "work" ? failureOfTurn(job, fact) : failureOfGate(fact);
    if (why) return why.kind;
  }
  return undefined;
}

function failureOfTurn(job: Job & { readonly kind: "plan" | "work" }, fact: Fact): Failure | undefined {
  if (!("task" in fact) || fact.task !== job.task) return undefined;
  switch (fact.type) {
    case "task.retried":
    case "task.failed":
    case "plan.rejected":
      return fact.failure;
    case "plan.ended":
      return fact.over === "finished" ? undefined : fact.over;
    default:
      return undefined;
  }
}

const failureOfGate = (fact: Fact): Failure | undefined =>
  fact.type === "landing.turned" || fact.type === "target.unchecked" || fact.type === "gate.unprobed"
    ? fact.failure
    : undefined;

/** The landing failed because of the repository or the machine, not of its tasks. */
const isLandingFailure = (fact: Fact): boolean =>
  fact.type === "landing.turned" && fact.failure !== undefined;
