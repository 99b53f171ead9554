/** Counts the faults that simulated runs meet without being planned: conflicts, red gates, discarded candidates. */
import { isUnjudged } from "../../src/core/gate.ts";
import type { Event } from "../../src/core/log/event.ts";
import { taskOf } from "../../src/core/log/state.ts";
import { isLoose } from "../../src/core/rules/held-files.ts";
import type { Tally } from "./faults.ts";
import type { Invariants } from "./invariants.ts";

export function countNatural(event: Event, faults: Tally, { state }: Invariants): void {
  countTrains(event, faults);
  if (event.type === "job.ended" && event.how === "expired") {
    const { isOffered, taken } = state.running.get(event.job)!;
    if (isOffered && !taken) faults.add("expired before a machine took it");
  }
  if (event.type === "task.retried" && event.failure.kind === "conflict") faults.add("conflict");
  if (event.type === "task.retried" && event.failure.kind === "unmet") faults.add("criterion red");
  if (event.type === "task.retried" && event.failure.kind === "repository" && event.handoff)
    faults.add("pruned");
  if (event.type === "task.held-back" && isLoose(taskOf(state, event.behind)))
    faults.add("waits for a loose task");
  if (event.type === "landing.turned" && event.phase.is === "again") faults.add("red gate");
  if (event.type === "landing.turned" && event.phase.is === "base" && event.phase.suspects.some(isUnjudged))
    faults.add("cannot be judged");
  if (event.type === "landing.turned" && event.phase.is === "bisect" && event.phase.isEarly)
    faults.add("red gate that points at a member");
  if (event.type === "plan.rejected") {
    if (event.sentBack) faults.add("failure named without a word");
    if (event.reasons.some((why) => why.includes("cannot replace"))) faults.add("wrong task for a failure");
  }
  if (event.type === "plan.accepted" || event.type === "plan.ended")
    for (const { by, because } of event.said?.addressed ?? []) {
      if (by !== undefined) faults.add("failure made good by another task");
      else if (because !== undefined) faults.add("failure given up for a reason");
    }
}

function countTrains(event: Event, faults: Tally): void {
  if (event.type === "candidate.passed") faults.add("gated ahead: passed");
  if (event.type === "candidate.failed") faults.add("gated ahead: failed");
  if (event.type === "landing.turned") for (const _ of event.drop ?? []) faults.add("out of the train");
  if (event.type === "job.started" && event.job.kind === "land" && event.job.moves !== undefined)
    faults.add("landed from the train");
}
