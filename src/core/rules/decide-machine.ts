/** Decides what follows when a machine of the fleet takes a job or changes; bounds its own words for the log. */
import { harmless } from "../../text/words.ts";
import type { Fact, Report } from "../log/event.ts";
import { LABEL } from "../task.ts";
import type { Now } from "./consequences.ts";

type Of<T extends Report["type"]> = Extract<Report, { readonly type: T }>;

/**
 * The lease counts from the taking, without the time for which the job's accounts are parked. A second machine that
 * takes the job over has the whole time again: the fleet's limit on tries ends this. Another coordinator may hear of
 * the same taking again, which changes nothing.
 */
export function jobTaken({ state, at, policy }: Now, said: Of<"taken">): readonly Fact[] {
  const { job, tries } = said;
  const running = state.running.get(job);
  const machine = nameOf(said.machine);
  if (!running || (running.taken?.machine === machine && running.taken.tries === tries)) return [];
  const since = Math.max(running.since, at - Math.max(0, said.agoMs));
  const until = Math.max(since, running.parkedUntil ?? 0) + policy.leaseMs[running.job.kind];
  return [{ type: "job.taken", job, machine, tries, since, until }];
}

/** The lost machine's lease is over: the job waits for another machine as long as if it had just been offered. */
export function jobReturned({ state, at, policy }: Now, { job }: Of<"returned">): readonly Fact[] {
  const running = state.running.get(job);
  if (!running?.taken) return [];
  const from = Math.max(at, running.parkedUntil ?? 0);
  return [{ type: "job.returned", job, until: from + policy.offerMs + policy.leaseMs[running.job.kind] }];
}

export function machineChanged({ state: { machines } }: Now, said: Of<"machine">): readonly Fact[] {
  const machine = nameOf(said.machine);
  const { state, capacity } = said;
  const labels = said.labels.filter((label) => typeof label === "string" && LABEL.test(label));
  const known = machines.get(machine);
  const isNew = !known && (state === "ready" || state === "draining") && machines.size < MAX_MACHINES;
  if (!known && !isNew) return [];
  if (!Number.isSafeInteger(capacity) || capacity < 0) return [];
  const isSame = known?.state === state && known.capacity === capacity && `${known.labels}` === `${labels}`;
  return isSame ? [] : [{ type: "machine.changed", machine, state, capacity, labels }];
}

/** The machine keeps taking jobs: a person decides whether to shut it out. */
export const machineHeld = (_: Now, { machine, heldMs }: Of<"held">): readonly Fact[] =>
  heldMs > 0 ? [{ type: "machine.cut-off", machine: nameOf(machine), heldMs: Math.round(heldMs) }] : [];

const nameOf = (machine: string): string => harmless(machine, MAX_NAME_CHARS);

/** The longest that the name of a host may be. */
const MAX_NAME_CHARS = 64;
/** More machines than one Postgres can serve. */
const MAX_MACHINES = 10_000;
