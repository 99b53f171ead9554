/** Infers the outcomes of the jobs in an older log from the events that follow their ends. */

import { isGreen } from "../gate.ts";
import type { JobId, JobOutcome } from "../job.ts";
import { OPEN, type Phase } from "../rules/landing.ts";
import type { Event, EventOf } from "./event.ts";

type JobEnded = EventOf<"job.ended">;

/** Uses that all consequences of a job's end have the same time as the end itself. */
export class OlderOutcomes {
  /** The end of a job and its consequences, as far as they were read. */
  #held: Event[] = [];
  #phase: Phase = OPEN;
  /** The tip that the last check saw pass: checking it again ran no gate. */
  #greenTip: string | undefined;

  /** Returns the events that are complete now, oldest first. */
  take(event: Event): readonly Event[] {
    const [ended] = this.#held;
    const isSame = ended !== undefined && ended.at === event.at && !BOUNDS.has(event.type);
    const ready = isSame ? [] : this.rest();
    this.#held.push(event);
    return event.type === "job.ended" || isSame ? ready : [...ready, ...this.rest()];
  }

  /** Returns the events that are still held at the end of the log. */
  rest(): readonly Event[] {
    const [ended, ...facts] = this.#held;
    this.#held = [];
    if (ended === undefined) return [];
    const known = ended.type === "job.ended" && !ended.outcome ? this.#inferred(ended, facts) : ended;
    for (const event of [known, ...facts]) this.#remember(event);
    return [known, ...facts];
  }

  #inferred(ended: JobEnded, facts: readonly Event[]): Event {
    const outcome = this.#outcomeOf(ended, facts);
    return outcome ? { ...ended, outcome } : ended;
  }

  #outcomeOf({ job, how, gates = [] }: JobEnded, facts: readonly Event[]): JobOutcome | undefined {
    if (how === "expired") return { is: "failed", failure: "timed-out" };
    if (how === "interrupted") return { is: "failed", failure: "interrupted" };
    if (how !== "answered" && how !== "answered-late") return undefined;
    if (job.startsWith("plan:")) return outcomeOfTurn(facts, job, "planned");
    if (job.startsWith("work:")) return outcomeOfTurn(facts, job, "worked");
    return job.startsWith("land#")
      ? outcomeOfLanding(facts, this.#phase)
      : this.#outcomeOfCheck(facts, gates.length > 0);
  }

  /** `hasRun`: the log has runs of its gate. Even older logs have none of any job. */
  #outcomeOfCheck(facts: readonly Event[], hasRun: boolean): JobOutcome | undefined {
    for (const fact of facts)
      switch (fact.type) {
        case "target.checked": {
          const { report, passedAt, tip } = fact;
          const isGreenNow = isGreen(report);
          const isLook = !hasRun && isGreenNow && tip === this.#greenTip && this.#phase.is !== "base";
          if (isLook || passedAt !== undefined || report.commands.length === 0) return { is: "known" };
          return { is: isGreenNow ? "passed" : "red" };
        }
        case "gate.probed":
          return { is: fact.probed.is === "unproven" ? "red" : "passed" };
        case "target.unchecked":
        case "gate.unprobed":
        case "setup.failed":
          return { is: "failed", failure: fact.failure.kind };
        default: // Another fact with the same time says it.
      }
    return undefined;
  }

  #remember(event: Event): void {
    if (event.type === "landing.turned") this.#phase = event.phase;
    else if (event.type === "target.checked") this.#greenTip = isGreen(event.report) ? event.tip : undefined;
    else if (event.type === "target.moved" || event.type === "base.moved") this.#greenTip = undefined;
  }
}

/** Events that begin another decision, even with the same time. */
const BOUNDS: ReadonlySet<Event["type"]> = new Set(["job.ended", "job.started"]);

function outcomeOfTurn(facts: readonly Event[], job: JobId, usual: "planned" | "worked"): JobOutcome {
  const task = job.slice("plan:".length, job.lastIndexOf("#"));
  for (const fact of facts) {
    if (!("task" in fact) || fact.task !== task) continue;
    switch (fact.type) {
      case "subtask.spawned":
      case "subtask.refused":
      case "question.asked":
        return { is: "called" };
      case "task.retried":
      case "task.failed":
      case "plan.rejected":
        return { is: usual, failure: fact.failure.kind };
      case "plan.ended":
        return fact.over === "finished" ? { is: usual } : { is: usual, failure: fact.over.kind };
      default: // It does not say how the turn ended.
    }
  }
  return { is: usual };
}

function outcomeOfLanding(facts: readonly Event[], before: Phase): JobOutcome {
  const kinds = new Set<string>();
  for (const fact of facts)
    switch (fact.type) {
      case "batch.landed":
        if (fact.proof !== "found") return { is: "landed", proof: fact.proof };
        return { is: "moved" };
      case "target.moved":
      case "landing.lost":
        return { is: "moved" };
      case "candidate.passed":
        return { is: "passed", proof: fact.passed.proof };
      case "candidate.failed":
        return { is: fact.failed.is === "red" ? "red" : "conflict" };
      case "task.retried":
      case "task.failed":
        kinds.add(fact.failure.kind);
        break;
      case "landing.turned":
        if (fact.failure) return { is: "failed", failure: fact.failure.kind };
        if (kinds.has("gate-red") || isFurther(before, fact.phase)) return { is: "red" };
        if (kinds.has("conflict")) return { is: "conflict" };
        return { is: kinds.size > 0 ? "gone" : "red" };
      default: // Another fact with the same time says it.
    }
  return { is: "moved" };
}

/** Only a failed gate moves a landing to a further phase. */
const isFurther = (before: Phase, after: Phase): boolean =>
  after.is !== "open" && JSON.stringify(before) !== JSON.stringify(after);
