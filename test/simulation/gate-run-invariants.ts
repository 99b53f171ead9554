/** Bounds gate runs by tasks and attempts, and checks that failures due to a used workspace do not count. */
import { isGreen } from "../../src/core/gate.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { RunState } from "../../src/core/log/state.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import type { TaskId } from "../../src/core/task.ts";
import { OVER_LEFTOVERS } from "./gate-places.ts";
import { must } from "./violation.ts";

/**
 * No failure counts that is only due to a used workspace: no task is refused, no test is flaky and nothing is repaired
 * for it. Gate runs of candidates, and the checks that compare the target with them, are bounded by the tasks that are
 * ready, from one landing or ended attempt to the next; one commit is checked only a few times in succession. This holds
 * with gates that fail at random, at every second run, or by turns with the target.
 */
export class GateRunInvariants {
  readonly #policy: Policy;
  /**
   * Gate runs of candidates since the target moved or an attempt was refused or failed; tasks and attempts bound how
   * often.
   */
  #landings = 0;
  #comparisons = 0;
  readonly #tasks = new Set<TaskId>();
  #tip = "";
  /** Checks of one commit in immediate succession. */
  #looks = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  before(event: Event, state: RunState): void {
    must(
      countedNames(event).every((name) => !name.includes(OVER_LEFTOVERS)),
      `${event.type} counts what was left in a used workspace`,
    );
    switch (event.type) {
      case "job.started":
        if (event.job.kind !== "land" || event.job.moves !== undefined) return;
        for (const { task } of event.job.members) this.#tasks.add(task);
        this.#landings += 1;
        this.#bounded(this.#landings, "gate runs of candidates");
        return;
      case "job.ended": // A job without an answer is run again, which other limits bound.
        if (event.job.startsWith("land#") && event.how !== "answered") this.#landings -= 1;
        return;
      case "landing.turned":
        if (event.failure) this.#landings -= 1;
        return;
      case "target.checked":
        if (event.passedAt !== undefined || (isGreen(event.report) && state.target.health === "green"))
          return;
        this.#looked(event, state);
        return;
      case "task.retried":
      case "task.failed":
      case "task.cancelled":
      case "setup.failed":
        this.#restart();
    }
  }

  after({ target }: RunState): void {
    if (target.tip === this.#tip) return;
    this.#tip = target.tip;
    this.#restart();
  }

  #looked({ at }: Event, { landing: { phase } }: RunState): void {
    if (phase.is === "base") {
      this.#comparisons += 1;
      this.#bounded(this.#comparisons, "looks at the target to compare with it");
      return;
    }
    const isAtOnce = at - this.#lookedAt < this.#policy.sweep.redMs;
    this.#looks = isAtOnce ? this.#looks + 1 : 1;
    this.#lookedAt = at;
    must(this.#looks <= MAX_LOOKS_AT_ONCE, `${this.#looks} looks at one commit, one right after the other`);
  }

  #restart(): void {
    this.#landings = 0;
    this.#comparisons = 0;
    this.#tasks.clear();
    this.#looks = 0;
  }

  /**
   * A batch is run again as often as a task may be undecided. It is halved until one task is left, and each part is run
   * as often. With several gates, each of these runs may discard what was built on it.
   */
  #bounded(runs: number, what: string): void {
    const { maxUndecided, gates } = this.#policy.landing;
    const tasks = this.#tasks.size;
    const rounds = Math.max(1, tasks) * maxUndecided;
    const most = rounds * RUNS * (1 + Math.ceil(Math.log2(Math.max(1, tasks)))) * gates;
    must(runs <= most, `${runs} ${what} for ${tasks} tasks on one target, and ${most} are enough`);
  }
}

/**
 * The runs that a flaky test must fail in a row before a change is blamed, and one in a used workspace that does not
 * count.
 */
const RUNS = 5 + 1;
const MAX_LOOKS_AT_ONCE = 12;

/** The names that the run takes for failures of the tree, or for flaky tests. */
export function countedNames(event: Event): readonly string[] {
  switch (event.type) {
    case "batch.landed":
      return event.flaky;
    case "repair.planned":
      return event.into.flatMap(({ spec }) => spec.repairs ?? []);
    case "repair.given-up":
      return event.failures;
    case "base.failed":
      return event.look.failures;
    case "task.retried":
    case "task.failed":
      return [event.failure.message];
    default:
      return [];
  }
}
