/** Warns before a run if a plan is unusually large, or if its forecast exceeds the budget. */
import { hasFailed } from "../core/result.ts";
import type { Policy } from "../core/rules/policy.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import { sizeNotice } from "../planning/risks.ts";
import type { Runs } from "../ports/runs.ts";
import { assume } from "./assumed.ts";
import { forecast } from "./forecast.ts";
import { learntHere } from "./recorded.ts";

/** Notices in words; empty if neither the size nor the cost is unusual. */
export async function costNotices(
  plan: ExecutionPlan,
  policy: Policy,
  runs: Runs,
): Promise<readonly string[]> {
  const size = sizeNotice(plan.tasks.length);
  return [...(size === undefined ? [] : [size]), ...(await overBudget(plan, policy, runs))];
}

/** The forecast is made without the budget, because with it the simulated run would stop there. */
async function overBudget(plan: ExecutionPlan, policy: Policy, runs: Runs): Promise<readonly string[]> {
  const { maxTokens, maxMicrodollars, landingShare, reserveTokens, reserveMicrodollars } = policy.budget;
  if (maxTokens === undefined && maxMicrodollars === undefined) return [];
  const found = await forecast({
    plan,
    assumed: assume(await learntHere(runs)),
    workers: policy.capacity.work,
    policy: { ...policy, budget: { landingShare, reserveTokens, reserveMicrodollars } },
  });
  if (hasFailed(found)) return []; // The plan does not end; checking the plan reports that.
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
