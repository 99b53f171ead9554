/** Chooses the accounts, shortages and budgets of a simulated run, with random numbers of its own. */

import { failure } from "../../src/core/failure.ts";
import type { Event } from "../../src/core/log/event.ts";
import { accountsOf } from "../../src/core/rules/governor.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import type { Message } from "../../src/engine/inbox.ts";
import type { Random } from "../../src/simulation/random.ts";
import type { Tally } from "./faults.ts";
import type { Provider, Shortage } from "./provider.ts";
import type { Mischief } from "./virtual-queue.ts";

const HOUR = 3_600_000;

/** Two accounts: one for all jobs, one as the fallback of the other, or one each for planners and workers. */
export const accountsIn = (random: Random): Policy["accounts"] =>
  random.pick<Policy["accounts"]>([
    { plan: ["a"], work: ["a"], byAgent: {} },
    { plan: ["a"], work: ["a", "b"], byAgent: { painter: ["b"] } },
    { plan: ["a"], work: ["b"], byAgent: { painter: ["a", "b"] } },
    { plan: ["a", "b"], work: ["b", "a"], byAgent: {} },
  ]);

export function budgetIn(random: Random, budget: Policy["budget"]): Policy["budget"] {
  const small = { ...budget, reserveTokens: 1_500, reserveMicrodollars: 1 };
  const landingShare = random.pick([0, 0.1, 0.1, 0.5]);
  const task = random.chance(0.08) ? { task: { maxTokens: random.between(1, 6) * 1_000 } } : {};
  const subtree = random.chance(0.1) ? { subtree: { maxTokens: random.between(1, 14) * 1_000 } } : {};
  return "task" in task || "subtree" in subtree
    ? { ...small, landingShare, ...task, ...subtree }
    : { ...budget, landingShare };
}

export function shortagesIn(random: Random): readonly Shortage[] {
  const some = random.chance(0.35) ? random.between(1, 5) : 0;
  const quotas = Array.from({ length: some }, (): Shortage => {
    const from = random.spread(1_000, 8 * HOUR);
    const says = random.chance(0.6);
    return {
      account: random.pick(["a", "a", "b"]),
      from,
      until: from + random.spread(30_000, 30 * HOUR),
      kind: "quota",
      says,
    };
  });
  if (!random.chance(0.08)) return quotas;
  const from = random.spread(1_000, 3 * HOUR);
  const until = from + random.spread(60_000, 5 * HOUR);
  return [...quotas, { account: random.pick(["a", "b"]), from, until, kind: "authentication", says: false }];
}

/** A person replaces the key, and repeats the resume until it must have arrived. */
export const mendedKeys = (shortages: readonly Shortage[]) =>
  shortages.flatMap(({ kind, until }) =>
    kind === "quota"
      ? []
      : Array.from({ length: 60 }, (_, hour) => ({
          at: until + hour * HOUR,
          message: { type: "resume" } as Message,
        })),
  );

export function providerOf(random: Random, policy: Policy, shortages: readonly Shortage[]): Provider {
  const [waits, cuts, quiets] = [
    random.pick([0, 0.5, 1]),
    random.pick([0, 0, 0.3]),
    random.pick([0, 0, 0.2]),
  ];
  return {
    shortages,
    chainOf: (brief) => accountsOf(policy, brief.kind, brief.spec),
    waits: () => random.chance(waits),
    cost: ({ kind }) => {
      if (kind !== "plan" && kind !== "work") return { tokens: 0 };
      if (!random.chance(cuts)) return { tokens: 1_000 };
      return { tokens: 300, unaccounted: { calls: random.between(1, 2), tokens: 700 } };
    },
    cut: ({ kind }) =>
      (kind === "plan" || kind === "work") && random.chance(cuts)
        ? { tokens: 200, unaccounted: { calls: 1, tokens: 600 } }
        : undefined,
    quietAfter: (_job, ms) => (random.chance(quiets) ? Math.floor(ms / 2) : undefined),
  };
}

/** Now and then a call is refused for its cost, whatever the log knows about the budget. */
export function thrifty(random: Random, mischief: Mischief): Mischief {
  const refuses = random.chance(0.05) ? 0.1 : 0;
  return {
    ...mischief,
    fate: (job, brief, ms) => {
      const fate = mischief.fate(job, brief, ms);
      if ((job.kind !== "plan" && job.kind !== "work") || !random.chance(refuses)) return fate;
      const budget = random.pick(["run", "subtree", "task", "task", undefined] as const);
      const why = { ...failure("budget", "a call was refused"), ...(budget && { budget }) };
      return { is: "instead", ms, outcome: { is: "failed", failure: why } };
    },
  };
}

/** Counts what accounts and budgets did, from the log. */
export function countGoverned(event: Event, faults: Tally): void {
  if (event.type === "account.parked")
    faults.add(
      event.failure.until === undefined && event.failure.waitMs === undefined
        ? "quota without a reset"
        : "quota with a reset",
    );
  if (event.type === "account.refused") faults.add("key refused");
  if (event.type === "job.extended") faults.add("quota while a job waits");
  if (event.type === "job.quiet") faults.add("job quiet");
  if (event.type === "job.ended" && event.spent?.unaccounted) faults.add("call cut off");
  const why =
    event.type === "task.failed" ? event.failure : event.type === "plan.ended" ? event.over : "finished";
  if (why === "finished" || why.kind !== "budget") return;
  if (why.message === "a call was refused") faults.add("call refused for its cost");
  else if (why.budget === "task") faults.add("task over budget");
  else if (why.budget === "subtree") faults.add("subtree over budget");
}
