/** Can a run be decided by these numbers? What a person may set to anything is checked before anything starts. */
import type { Limit, Policy } from "./policy.ts";
import { isRefSafe } from "./slug.ts";

/** What is wrong, by name; nothing if it can be used. Zero means zero here, so where zero makes no sense it is said. */
export function policyProblems(policy: Policy): readonly string[] {
  return [
    ...LIMITS.flatMap(([name, least, read]) => {
      const value = read(policy);
      return isWhole(value) && value >= least
        ? []
        : [`${name} must be a whole number from ${least}, not ${String(value)}`];
    }),
    ...(policy.retry.factor >= 1 ? [] : [`retry.factor must be at least 1, not ${policy.retry.factor}`]),
    ...(policy.quota.factor >= 1 ? [] : [`quota.factor must be at least 1, not ${policy.quota.factor}`]),
    ...(isRefSafe(`${policy.branchPrefix}r`)
      ? []
      : [`branchPrefix "${policy.branchPrefix}" cannot begin the name of a branch`]),
    ...(policy.baseFirstMs === undefined || (isWhole(policy.baseFirstMs) && policy.baseFirstMs >= 0)
      ? []
      : [`baseFirstMs must be a whole number from 0, not ${policy.baseFirstMs}`]),
    ...budgetProblems(policy.budget),
    ...accountProblems(policy.accounts),
  ];
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

const LIMITS: readonly (readonly [name: string, least: number, read: (policy: Policy) => unknown])[] = [
  ["capacity.plan", 1, (p) => p.capacity.plan],
  ["capacity.work", 1, (p) => p.capacity.work],
  ["leaseMs.plan", 1, (p) => p.leaseMs.plan],
  ["leaseMs.work", 1, (p) => p.leaseMs.work],
  ["leaseMs.land", 1, (p) => p.leaseMs.land],
  ["leaseMs.check", 1, (p) => p.leaseMs.check],
  ["root.replanAfter", 1, (p) => p.root.replanAfter],
  ["root.maxTasksPerAnswer", 1, (p) => p.root.maxTasksPerAnswer],
  ["root.maxAnswers", 1, (p) => p.root.maxAnswers],
  ["root.maxErrorsInARow", 1, (p) => p.root.maxErrorsInARow],
  ["subplanner.replanAfter", 1, (p) => p.subplanner.replanAfter],
  ["subplanner.maxTasksPerAnswer", 1, (p) => p.subplanner.maxTasksPerAnswer],
  ["subplanner.maxAnswers", 1, (p) => p.subplanner.maxAnswers],
  ["subplanner.maxErrorsInARow", 1, (p) => p.subplanner.maxErrorsInARow],
  ["decompose.maxDepth", 0, (p) => p.decompose.maxDepth],
  ["decompose.scopeThreshold", 1, (p) => p.decompose.scopeThreshold],
  ["decompose.moduleThreshold", 1, (p) => p.decompose.moduleThreshold ?? 1],
  ["decompose.scoreThreshold", 0, (p) => p.decompose.scoreThreshold ?? 0],
  ["retry.maxFailed", 1, (p) => p.retry.maxFailed],
  ["retry.maxCriterion", 1, (p) => p.retry.maxCriterion],
  ["retry.maxRefused", 0, (p) => p.retry.maxRefused],
  ["retry.maxLost", 0, (p) => p.retry.maxLost],
  ["retry.maxUnreachable", 1, (p) => p.retry.maxUnreachable],
  ["retry.graceMs", 0, (p) => p.retry.graceMs],
  ["retry.firstMs", 0, (p) => p.retry.firstMs],
  ["retry.maxMs", 0, (p) => p.retry.maxMs],
  ["retry.maxRemembered", 0, (p) => p.retry.maxRemembered],
  ["landing.maxBatch", 1, (p) => p.landing.maxBatch],
  ["landing.maxErrorsInARow", 1, (p) => p.landing.maxErrorsInARow],
  ["subtasks.maxDepth", 1, (p) => p.subtasks.maxDepth],
  ["subtasks.maxContinuations", 0, (p) => p.subtasks.maxContinuations],
  ["subtasks.maxTasks", 0, (p) => p.subtasks.maxTasks],
  ["subtasks.maxMs", 0, (p) => p.subtasks.maxMs],
  ["subtasks.maxResultChars", 1, (p) => p.subtasks.maxResultChars],
  ["questions.waitMs", 0, (p) => p.questions.waitMs],
  ["questions.maxTries", 0, (p) => p.questions.maxTries],
  ["questions.maxTextChars", 1, (p) => p.questions.maxTextChars],
  ["sweep.redMs", 1, (p) => p.sweep.redMs],
  ["sweep.greenMs", 1, (p) => p.sweep.greenMs],
  ["sweep.greensToSlowDown", 0, (p) => p.sweep.greensToSlowDown],
  ["sweep.maxErrorsInARow", 1, (p) => p.sweep.maxErrorsInARow],
  ["repair.maxTasks", 1, (p) => p.repair.maxTasks],
  ["repair.maxFiles", 1, (p) => p.repair.maxFiles],
  ["repair.maxRounds", 0, (p) => p.repair.maxRounds],
  ["quota.firstMs", 1, (p) => p.quota.firstMs], // Without a wait, who has no quota would be asked without end.
  ["quota.maxMs", 1, (p) => p.quota.maxMs],
  ["quota.maxUntilMs", 1, (p) => p.quota.maxUntilMs],
  ["budget.reserveTokens", 0, (p) => p.budget.reserveTokens],
  ["budget.reserveMicrodollars", 0, (p) => p.budget.reserveMicrodollars],
  ["brief.maxSummaryChars", 1, (p) => p.brief.maxSummaryChars],
  ["brief.maxDiffChars", 0, (p) => p.brief.maxDiffChars],
  ["brief.maxFiles", 0, (p) => p.brief.maxFiles],
  ["brief.maxNews", 0, (p) => p.brief.maxNews],
  ["brief.maxConcerns", 0, (p) => p.brief.maxConcerns],
  ["brief.maxSteerChars", 1, (p) => p.brief.maxSteerChars],
  ["brief.maxSteers", 1, (p) => p.brief.maxSteers],
];

/** A budget of nothing is a choice; one that is no number would never be reached. */
const budgetProblems = (budget: Policy["budget"]): readonly string[] => [
  ...limitProblems("budget", budget),
  ...limitProblems("budget.task", budget.task ?? {}),
  ...limitProblems("budget.subtree", budget.subtree ?? {}),
  ...(budget.landingShare >= 0 && budget.landingShare < 1
    ? []
    : [`budget.landingShare must be from 0 to less than 1, not ${budget.landingShare}`]),
];

const limitProblems = (of: string, { maxTokens, maxMicrodollars }: Limit): readonly string[] =>
  Object.entries({ maxTokens, maxMicrodollars }).flatMap(([name, value]) =>
    value === undefined || (isWhole(value) && value >= 0)
      ? []
      : [`${of}.${name} must be a whole number from 0, not ${String(value)}`],
  );

const accountProblems = ({ plan, work, byAgent }: Policy["accounts"]): readonly string[] =>
  Object.entries({ plan, work, ...byAgent }).flatMap(([name, accounts]) =>
    accounts.length > 0 && accounts.every((account) => account !== "")
      ? []
      : [`accounts of ${name} must be at least one name`],
  );
