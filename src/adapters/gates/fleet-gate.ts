/** A gate that workers of a fleet run: the candidate goes to the remote, and any free machine runs its commands. */
import { type Failure, failure } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { GATE_PRIORITY, type OfferedWork } from "../../ports/fleet-jobs.ts";
import type { Gate, GatedTree, GateRun } from "../../ports/gate.ts";
import type { FleetOffers } from "../job-queues/fleet-offers.ts";
import type { JobEnding } from "../job-queues/job-ending.ts";
import type { JobObjects } from "../objects/job-objects.ts";

type FleetGateOptions = {
  readonly offers: FleetOffers;
  readonly objects: JobObjects;
  /** Does what needs no worker: finds how two commits differ. */
  readonly own: Gate;
  readonly labels: readonly string[];
  /** How long a cancelled gate is waited for, because Postgres may be away. */
  readonly graceMs?: number;
};

export class FleetGate implements Gate {
  readonly #options: FleetGateOptions;
  /** Names of gates, different for each coordinator, so that a gate of an earlier one is not waited for. */
  readonly #names = names();
  readonly #outputs = names();

  constructor(options: FleetGateOptions) {
    this.#options = options;
  }

  /**
   * Runs a gate on a worker. Each run's output has its own name, because several machines write into one folder of
   * the run.
   */
  async run({ onCommand: _, onStep: __, onRun, ...asked }: GatedTree, signal: AbortSignal) {
    const tree = { ...asked, output: `${asked.job}/${this.#outputs.next().value}` };
    const end = await this.#offer(tree, { is: "gate", tree }, signal);
    if (hasFailed(end)) return end;
    if (end.is !== "answered" || end.result.is !== "gated") return unanswered(end);
    for (const run of end.result.runs ?? []) onRun?.(run);
    return here(end.result.gated);
  }

  /** Only puts the candidate's objects on the remote early. */
  prepare({ job, commit }: GatedTree): void {
    void this.#options.objects.offer(`${job}.next`, [commit], AbortSignal.timeout(PREPARE_MS));
  }

  async probe(...[{ onCommand: _, onRun: __, ...tree }, report, signal]: Parameters<Gate["probe"]>) {
    const end = await this.#offer(tree, { is: "probe", tree, report }, signal);
    if (hasFailed(end)) return end;
    return end.is === "answered" && end.result.is === "probed" ? end.result.probed : unanswered(end);
  }

  changes(...asked: Parameters<Gate["changes"]>) {
    return this.#options.own.changes(...asked);
  }

  async #offer(tree: GatedTree, what: OfferedWork, signal: AbortSignal): Promise<JobEnding | Failed> {
    const { offers, objects, labels, graceMs = GRACE_MS } = this.#options;
    const commits = [tree.commit, tree.rules, ...(tree.from === undefined ? [] : [tree.from])];
    const job = `${GATES}${tree.job}/${this.#names.next().value}` as JobId;
    const needs = await objects.offer(job, [...new Set(commits)], signal);
    if (hasFailed(needs)) return needs;
    const { promise, resolve } = Promise.withResolvers<JobEnding>();
    offers.follow(job, resolve, tree.job);
    const offered = await offers.offer({ job, needs, what, labels, priority: GATE_PRIORITY });
    if (offered !== "offered") return offered;
    const stop = () => {
      void offers.cancel(job);
      timer = setTimeout(() => resolve({ is: "cancelled", tries: 0, begun: false }), graceMs);
    };
    let timer: NodeJS.Timeout | undefined;
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", stop);
      clearTimeout(timer);
    }
  }
}

/** Drops the path of the output file, which is on the machine that ran the gate. */
function here(gated: GateRun | Failed): GateRun | Failed {
  if (hasFailed(gated)) return gated;
  const { output: _, ...run } = gated;
  return run;
}

/** The prefix of the names of all gates. */
export const GATES = "gate:";

function* names(): Generator<string, never> {
  const own = Date.now().toString(36);
  for (let number = 1; ; number += 1) yield `${own}.${number}`;
}

const unanswered = (end: JobEnding): Failed => ({ failure: whyOf(end) });

const whyOf = ({ is, tries }: JobEnding): Failure =>
  is === "cancelled"
    ? failure("interrupted", "the gate was called off")
    : failure("interrupted", `no worker came to an end with the gate: ${tries + 1} began`);

const PREPARE_MS = 60_000;
const GRACE_MS = 10_000;
