/** Simulates a fleet: jobs wait until a machine takes them, and now and then another machine takes one over. */
import { type Job, type JobId, jobId } from "../../src/core/job.ts";
import type { Event, Report } from "../../src/core/log/event.ts";
import type { RunState } from "../../src/core/log/state.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { type Random, randomFrom, seedFor } from "../../src/simulation/random.ts";
import type { Tally } from "./faults.ts";
import { must } from "./violation.ts";

const MINUTE = 60_000;

/**
 * The machines that begin the job, each with its time after the offer or after the one before; the last one completes
 * it.
 */
export type Takings = readonly { readonly afterMs: number; readonly machine: string }[];

export type Fleet = {
  readonly offerMs: number;
  readonly said: readonly { readonly at: number; readonly message: Report }[];
  /** `ms`: how long the job takes on one machine. */
  takingsOf(job: Job, ms: number): Takings;
};

/** Uses random numbers of its own: most runs are on one machine, and happen as they did before there was a fleet. */
export function fleetIn(seed: number, faults: Tally): Fleet | undefined {
  const random = randomFrom(seedFor(seed, "fleet"));
  if (!random.chance(0.3)) return undefined;
  faults.add("on a fleet");
  const offerMs = random.pick([MINUTE, 30 * MINUTE, 24 * 60 * MINUTE]);
  const maxWaitMs = random.pick([1_000, 10 * MINUTE, 5 * 60 * MINUTE]);
  const taker = () => ({ afterMs: random.spread(1, maxWaitMs), machine: `m${random.below(4)}` });
  return {
    offerMs,
    said: machinesSaid(random),
    takingsOf: (_job, ms) => {
      if (!random.chance(0.15)) return [taker()];
      faults.add("job taken over");
      return [taker(), { ...taker(), afterMs: random.spread(1, Math.max(2, ms)) }];
    },
  };
}

const machinesSaid = (random: Random): Fleet["said"] =>
  Array.from({ length: random.between(1, 12) }, () => ({
    at: random.spread(1, 6 * 60 * MINUTE),
    message: {
      type: "machine",
      machine: `m${random.below(4)}`,
      state: random.pick(["ready", "ready", "draining", "silent", "gone"]),
      capacity: random.between(1, 2),
      labels: random.pick([[], ["gpu"]]),
    },
  }));

/** Checks that no job expires before its machine has had its whole lease, or before its offer was open long enough. */
export class FleetInvariants {
  readonly #policy: Policy;
  /** The time from which each job's lease counts. */
  readonly #from = new Map<JobId, number>();
  readonly #machines = new Map<string, string>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** `state` is the state before the event. */
  before(event: Event, { running }: RunState): void {
    const { offerMs } = this.#policy;
    if (event.type === "job.started")
      this.#from.set(jobId(event.job), event.at + (event.isOffered ? offerMs : 0));
    if (event.type === "job.taken" || event.type === "job.returned") {
      must(running.has(event.job), `${event.job} was ${event.type}, and is not running`);
      must(
        event.type === "job.taken" || running.get(event.job)!.taken !== undefined,
        `${event.job} was not taken`,
      );
      this.#from.set(event.job, event.type === "job.returned" ? event.at + offerMs : event.since);
    }
    if (event.type === "machine.changed") {
      const { machine, at: _, ...now } = event;
      const known = this.#machines.get(machine) ?? "";
      must(JSON.stringify(now) !== known, `${machine} was said to change, and did not`);
      must(known !== "" || !["gone", "silent"].includes(now.state), `${machine} left, and was not there`);
      if (now.state === "gone") this.#machines.delete(machine);
      else this.#machines.set(machine, JSON.stringify(now));
    }
    if (event.type !== "job.ended" || event.how !== "expired") return;
    const hadMs = event.at - this.#from.get(event.job)!;
    const lease = this.#policy.leaseMs[running.get(event.job)!.job.kind];
    must(hadMs >= lease, `${event.job} expired ${lease - hadMs} ms before its lease was over`);
  }
}
