/** Would a plan cost more than its owner may expect? By its size, and by a forecast against the budget. */
import { hasFailed } from "../core/result.ts";
import type { Policy } from "../core/rules/policy.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import { sizeNotice } from "../planning/risks.ts";
import type { Runs } from "../ports/runs.ts";
import { assume } from "./assumed.ts";
import { forecast } from "./forecast.ts";
import { learntHere } from "./recorded.ts";

/** In words, before anything runs; nothing where it costs what one would expect. */
export async function costNotices(
  plan: ExecutionPlan,
  policy: Policy,
  runs: Runs,
): Promise<readonly string[]> {
  const size = sizeNotice(plan.tasks.length);
  return [...(size === undefined ? [] : [size]), ...(await overBudget(plan, policy, runs))];
}

/** The forecast is made without the budget: with it, the run would stop there. */
async function overBudget(plan: ExecutionPlan, policy: Policy, runs: Runs): Promise<readonly string[]> {
  const { maxTokens, maxMicrodollars, landingShare, reserveTokens, reserveMicrodollars } = policy.budget;
  if (maxTokens === undefined && maxMicrodollars === undefined) return [];
  const found = await forecast({
    plan,
    assumed: assume(await learntHere(runs)),
    workers: policy.capacity.work,
    policy: { ...policy, budget: { landingShare, reserveTokens, reserveMicrodollars } },
  });
  if (hasFailed(found)) return []; // It does not end; checking the plan says so.
  const { tokens, microdollars } = found.used;
  return [
    ...over("tokens", tokens, maxTokens, (amount) => `${amount.toLocaleString("en")} tokens`),
    ...over("dollars", microdollars, maxMicrodollars, (amount) => `$${(amount / 1_000_000).toFixed(2)}`),
  ];
}

const over = (
  unit: "tokens" | "dollars",
  used: number,
  limit: number | undefined,
  text: (amount: number) => string,
): readonly string[] =>
  limit === undefined || used <= limit
    ? []
    : [
        `the forecast for this plan is ${text(used)}, more than budget.${unit} ` +
          `(${text(limit)}): the run would stop before the end (see skein simulate)`,
      ];
