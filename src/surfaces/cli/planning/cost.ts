/** Would a plan cost more than its owner may expect? By its size, and by a forecast against the budget. */
import { learntHere } from "../../../compose/recorded.ts";
import type { Project } from "../../../compose.ts";
import { type Config, toPolicy } from "../../../config/index.ts";
import { hasFailed } from "../../../core/result.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { sizeNotice } from "../../../planning/risks.ts";
import { assume } from "../../../simulation/assumed.ts";
import { forecast } from "../../../simulation/forecast.ts";

/** In words, before anything runs; nothing where it costs what one would expect. */
export async function costNotices(
  project: Project,
  config: Config,
  plan: ExecutionPlan,
): Promise<readonly string[]> {
  const size = sizeNotice(plan.tasks.length);
  const over = await overBudget(project, config, plan);
  return [...(size === undefined ? [] : [size]), ...over];
}

/** The forecast is made without the budget: with it, the run would stop there. */
async function overBudget(project: Project, config: Config, plan: ExecutionPlan): Promise<readonly string[]> {
  const { tokens, dollars } = config.budget;
  if (tokens === undefined && dollars === undefined) return [];
  const policy = toPolicy(config);
  const { landingShare, reserveTokens, reserveMicrodollars } = policy.budget;
  const found = await forecast({
    plan,
    assumed: assume(await learntHere(project)),
    workers: config.workers,
    policy: { ...policy, budget: { landingShare, reserveTokens, reserveMicrodollars } },
  });
  if (hasFailed(found)) return []; // It does not come to an end: whoever checks plans says so.
  const { used } = found;
  return [
    ...over("tokens", used.tokens, tokens, (amount) => `${amount.toLocaleString("en")} tokens`),
    ...over("dollars", used.microdollars / 1_000_000, dollars, (amount) => `$${amount.toFixed(2)}`),
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
