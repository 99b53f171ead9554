/** Checks the rules for failed set-ups, the gate's probe and red bases, with bookkeeping of its own. */
import type { Event, EventOf } from "../../src/core/log/event.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { must } from "./violation.ts";

/**
 * No job starts while the set-up has failed, or while a person is asked about a base that fails. A failed set-up is
 * charged to no task. No agent is paid before the base was checked, nothing lands before the gate was probed, and no
 * failure of the base is repaired twice.
 */
export class SetupInvariants {
  readonly #policy: Policy;
  #stands = false;
  #probed: string | undefined;
  #isProbedOnGreen = false;
  #isGreen = false;
  #hasGate = true;
  /** The target was checked, or its check has failed as often as it is tried. */
  #isLookedAt = false;
  #unchecked = 0;
  #since = 0;
  #isCancelling = false;
  /** A planner or a worker was started. */
  #isPaid = false;
  /** A person is being asked what to do about a base that fails. */
  #isAsked = false;
  #isBaseRed = false;
  readonly #repaired = new Set<string>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  before(event: Event): void {
    switch (event.type) {
      case "run.opened":
        this.#since = event.at;
        break;
      case "job.started":
        this.#starting(event);
        break;
      case "job.ended":
        if (event.how === "interrupted" && !this.#isLookedAt) this.#since = event.at;
        break;
      case "target.checked":
        this.#isLookedAt = true;
        this.#unchecked = 0;
        this.#isGreen = event.report.commands.every(({ green }) => green);
        if (this.#isGreen) {
          this.#isBaseRed = false;
          this.#repaired.clear();
        }
        this.#hasGate = event.report.commands.length > 0;
        break;
      case "target.unchecked":
        this.#unchecked += 1;
        this.#isLookedAt ||= this.#unchecked >= this.#policy.sweep.maxErrorsInARow;
        break;
      case "base.failed":
        must(!this.#isPaid, "what happens to a base that fails is decided after an agent was paid");
        must(!this.#isAsked, "a base that fails is asked about twice");
        must((event.choice === "ask") === (event.asked !== undefined), "a question without its words");
        this.#isAsked = event.choice === "ask";
        this.#isBaseRed = true;
        break;
      case "base.answered":
        must(this.#isAsked, "an answer about the base that nobody asked for");
        this.#isAsked = false;
        break;
      case "repair.planned":
        must(!this.#isAsked, "fix tasks are made before it is known what happens to the base");
        if (this.#isBaseRed && event.class !== undefined) this.#fixing(event.class, event.into);
        break;
      case "setup.failed":
        must(event.failure.kind === "setup", `the set-up failed by ${event.failure.kind}`);
        must(!this.#stands, "the set-up failed once more without having been tried again");
        this.#stands = true;
        break;
      case "setup.retried":
        must(this.#stands, "the set-up is tried again without having failed");
        this.#stands = false;
        // The choice about the base is made again. If an agent was paid before the failure is seen, it is repaired like
        // any target's.
        if (this.#repaired.size === 0) this.#isBaseRed = false;
        this.#since = event.at;
        this.#isGreen = false;
        if (this.#probed === "unproven") this.#probed = undefined;
        break;
      case "gate.probed":
        must(this.#policy.probe === true, "the gate is probed though that is switched off");
        must(
          this.#probed === undefined ||
            (this.#probed === "not-probed" && !this.#isProbedOnGreen && this.#isGreen),
          "the gate is probed once, and once more if it could not be before the target was green",
        );
        this.#probed = event.probed.is;
        this.#isProbedOnGreen = this.#isGreen;
        break;
      case "task.retried":
      case "plan.rejected":
        must(
          event.failure.kind !== "setup" || event.charge === "nothing",
          `${event.task} is charged for a set-up that failed`,
        );
        break;
      case "run.cancel-requested":
        this.#isCancelling = true;
        break;
      case "run.closed":
        must(!this.#stands || this.#isCancelling, "the run is closed while its set-up has failed");
        break;
      default: // Other events do not matter here.
    }
  }

  /** A later part of a repair round is for other failures, so no failure may be repaired twice. */
  #fixing(kind: string, into: EventOf<"repair.planned">["into"]): void {
    for (const { spec } of into)
      for (const name of spec.repairs ?? []) {
        must(!this.#repaired.has(name), `${name} of the base is repaired a second time (${kind})`);
        this.#repaired.add(name);
      }
  }

  #starting({ job, at }: EventOf<"job.started">): void {
    must(!this.#stands, `a ${job.kind} job is started while the set-up has failed`);
    must(!this.#isAsked, `a ${job.kind} job is started while a person is asked about the base`);
    if (job.kind === "plan" || job.kind === "work") this.#isPaid = true;
    const { probe = false, baseFirstMs = 0 } = this.#policy;
    if (job.kind === "land")
      must(
        !probe || !this.#hasGate || this.#probed !== undefined,
        "something lands before the gate was probed",
      );
    if (job.kind === "plan" || job.kind === "work")
      must(
        this.#isLookedAt || at - this.#since >= baseFirstMs,
        `a ${job.kind} job is started before the base was looked at`,
      );
  }
}
