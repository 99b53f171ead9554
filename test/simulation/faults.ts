/** The faults of simulated runs: every kind with its chance, and a tally of those that happened. */
import type { Brief } from "../../src/core/brief.ts";
import { failure } from "../../src/core/failure.ts";
import type { Job, Outcome } from "../../src/core/job.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { EVERYTHING } from "../../src/core/scope.ts";
import type { Random } from "../../src/simulation/random.ts";
import { evidenceOf, handoff } from "../../src/simulation/virtual-queue.ts";
import { damagePlan } from "./damaged-plans.ts";
import type { Fate, Mischief } from "./virtual-queue.ts";

/** The faults that may happen to a job, by the job's kind. */
const KINDS = {
  work: [
    "worker failed",
    "worker reported partial",
    "worker changed nothing",
    "worker left its scope",
    "worker deleted a test",
    "worker died",
    "worker answered late",
    "worker crashed",
    "agent unreachable",
  ],
  plan: ["planner unreachable", "planner died", "planner answered late"],
  land: ["landing died", "landing answered late", "landing failed"],
  check: ["check died", "check failed"],
} as const;

export const FAULTS = [
  ...KINDS.work,
  ...KINDS.plan,
  "plan unreadable",
  "plan truncated",
  "plan invalid",
  ...KINDS.land,
  ...KINDS.check,
  "flaky gate",
  "fickle gate",
  "gate over leftovers",
  "conflict",
  "criterion red",
  "waits for a loose task",
  "red gate",
  "red gate that points at a member",
  "base red from the start",
  "asked about a base that fails",
  "base on which no test runs",
  "cannot be judged",
  "base moved",
  "target moved from outside",
  "target put back",
  "target put back at the end",
  "pruned",
  "target broke by itself",
  "engine killed before an append",
  "engine killed after an append",
  "second engine",
  "cancelled job went on",
  "paused",
  "steered",
  "plan approved",
  "plan declined",
  "gate changed",
  "landing approved",
  "landing declined",
  "cancelled while landing",
  "known flaky test",
  "gate in stages",
  "task cancelled",
  "run cancelled",
  "tight budget",
  "quota with a reset",
  "quota without a reset",
  "quota while a job waits",
  "key refused",
  "call cut off",
  "task over budget",
  "subtree over budget",
  "call refused for its cost",
  "job quiet",
  "set-up broken from the start",
  "set-up vanished",
  "resumed before it was mended",
  "gate proves nothing",
  "gate not probed",
  "several gates at once",
  "gated ahead: passed",
  "gated ahead: failed",
  "landed from the train",
  "out of the train",
  "command that names nothing",
  "engine killed at a probe",
  "clock set forward",
  "clock set back",
  "failure named without a word",
  "failure given up for a reason",
  "failure made good by another task",
  "wrong task for a failure",
  "subtask",
  "subtask refused",
  "question asked",
  "question answered by a task",
  "question passed on",
  "question answered by default",
  "cancelled while it waits",
  "engine killed at a subtask",
  "on a fleet",
  "job taken over",
  "expired before a machine took it",
] as const;

export type FaultKind = (typeof FAULTS)[number];

export class Tally {
  readonly #counts = new Map<FaultKind, number>();

  add(kind: FaultKind, times = 1): void {
    this.#counts.set(kind, this.of(kind) + times);
  }

  of(kind: FaultKind): number {
    return this.#counts.get(kind) ?? 0;
  }

  addAll(other: Tally): void {
    for (const kind of FAULTS) this.add(kind, other.of(kind));
  }
}

/** Chances for each job, gate run or answer. `planners` at 1 is an outage that does not end. */
export type Weather = {
  readonly workers: number;
  readonly planners: number;
  readonly plans: number;
  readonly landing: number;
  readonly flaky: number;
  readonly zombies: number;
  readonly knownFlaky: boolean;
};

/**
 * A test that earlier runs know as flaky. It fails up to three times on any tree, four times with the other kind of
 * flake.
 */
export const KNOWN_FLAKY = "test: the clock";
const MAX_KNOWN_FLAKES = 3;

export function mischief(random: Random, weather: Weather, policy: Policy, tally: Tally): Mischief {
  const flaked = new Set<string>();
  const flakes = new Map<string, number>();
  return {
    fate: (job, brief, ms) => fate({ random, weather, policy, tally }, job, brief, ms),
    garble: (text) => {
      if (!random.chance(weather.plans)) return text;
      const damage = damagePlan(random, text);
      tally.add(damage.kind);
      return damage.text;
    },
    ignoresCancel: () => {
      if (!random.chance(weather.zombies)) return false;
      tally.add("cancelled job went on");
      return true;
    },
    // Otherwise a tree fails without a reason at most once: the engine takes two failures in a row for a real one.
    flake: (tree) => {
      const before = flakes.get(tree) ?? 0;
      if (weather.knownFlaky && before < MAX_KNOWN_FLAKES && random.chance(0.5)) {
        flakes.set(tree, before + 1);
        tally.add("known flaky test");
        return [KNOWN_FLAKY];
      }
      if (flaked.has(tree) || !random.chance(weather.flaky)) return [];
      flaked.add(tree);
      tally.add("flaky gate");
      return [`test: flaky ${random.below(3)}`];
    },
  };
}

type Setting = {
  readonly random: Random;
  readonly weather: Weather;
  readonly policy: Policy;
  readonly tally: Tally;
};

function fate(setting: Setting, job: Job, brief: Brief, ms: number): Fate {
  const { random, weather, policy, tally } = setting;
  const chance =
    job.kind === "work" ? weather.workers : job.kind === "plan" ? weather.planners : weather.landing;
  if (!random.chance(chance)) return { is: "honest", ms };
  const outage = job.kind === "plan" && chance === 1;
  const kind = outage ? "planner unreachable" : random.pick(KINDS[job.kind]);
  tally.add(kind);
  if (kind.endsWith("died")) return { is: "dies" };
  if (kind.endsWith("late"))
    return { is: "honest", ms: policy.leaseMs[job.kind] + random.spread(1_000, 3 * 3_600_000) };
  return { is: "instead", ms, outcome: outcomeOf(kind, brief) };
}

function outcomeOf(kind: FaultKind, brief: Brief): Outcome {
  const failed = (of: Parameters<typeof failure>[0]): Outcome => ({
    is: "failed",
    failure: failure(of, kind),
  });
  switch (kind) {
    case "worker crashed":
      return failed("interrupted");
    case "agent unreachable":
    case "planner unreachable":
      return failed("agent-unreachable");
    case "landing failed":
    case "check failed":
      return failed("repository");
    default:
      // A worker whose scope is the whole repository cannot leave it.
      return brief.kind === "work" && kind !== "worker failed" && !brief.spec.scope.includes(EVERYTHING)
        ? dishonest(kind, brief.task)
        : failed("agent-failed");
  }
}

/** A worker that wrongly reports complete, or that reports partial. */
function dishonest(kind: FaultKind, task: string): Outcome {
  const said = {
    ...handoff(task, kind),
    ...(kind === "worker reported partial" ? { status: "partial" as const } : {}),
  };
  const files = kind === "worker left its scope" ? ["elsewhere/x.ts"] : [];
  const evidence = { ...evidenceOf(files), ...(files.length > 0 ? { commit: `${task}-stray` } : {}) };
  if (kind !== "worker deleted a test") return { is: "worked", handoff: said, evidence };
  const deleted = {
    ...evidenceOf(["package-lock.json"]),
    commit: `${task}-less`,
    deletedTests: ["test/a.test.ts"],
  };
  return { is: "worked", handoff: said, evidence: deleted };
}
