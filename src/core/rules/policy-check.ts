/** Checks a policy's numbers before anything starts, since a person may set them to anything. */

import { isRefSafe } from "../../text/slug.ts";
import { defaultPolicy, type Limit, type Policy } from "./policy.ts";

/** What is wrong, by name; empty if the policy can be used. Every number of the default policy must be there. */
export function policyProblems(policy: Policy): readonly string[] {
  return [
    ...numbersIn(defaultPolicy).flatMap((name) => {
      const least = MAY_BE_ZERO.has(name) ? 0 : 1;
      return wholeProblems(name, valueAt(policy, name), least);
    }),
    ...wholeProblems("decompose.moduleThreshold", policy.decompose.moduleThreshold ?? 1, 1),
    ...wholeProblems("decompose.scoreThreshold", policy.decompose.scoreThreshold ?? 0, 0),
    ...wholeProblems("offerMs", policy.offerMs, 0),
    ...wholeProblems("baseFirstMs", policy.baseFirstMs ?? 0, 0),
    ...(policy.retry.factor >= 1 ? [] : [`retry.factor must be at least 1, not ${policy.retry.factor}`]),
    ...(policy.quota.factor >= 1 ? [] : [`quota.factor must be at least 1, not ${policy.quota.factor}`]),
    ...(isRefSafe(`${policy.branchPrefix}r`)
      ? []
      : [`branchPrefix "${policy.branchPrefix}" cannot begin the name of a branch`]),
    ...budgetProblems(policy.budget),
    ...accountProblems(policy.accounts),
  ];
}

const wholeProblems = (name: string, value: unknown, least: number): readonly string[] =>
  Number.isSafeInteger(value) && Number(value) >= least
    ? []
    : [`${name} must be a whole number from ${least}, not ${String(value)}`];

/** For these, zero means none, at once, or never. Any other number must be at least 1. */
const MAY_BE_ZERO: ReadonlySet<string> = new Set([
  "decompose.maxDepth",
  "retry.maxRefused",
  "retry.maxLost",
  "retry.graceMs",
  "retry.firstMs",
  "retry.maxMs",
  "retry.maxRemembered",
  "subtasks.maxContinuations",
  "subtasks.maxTasks",
  "subtasks.maxMs",
  "questions.waitMs",
  "questions.maxTries",
  "sweep.greensToSlowDown",
  "repair.maxRounds",
  "budget.reserveTokens",
  "budget.reserveMicrodollars",
  "brief.maxDiffChars",
  "brief.maxFiles",
  "brief.maxNews",
  "brief.maxConcerns",
]);

const NOT_WHOLE: ReadonlySet<string> = new Set(["retry.factor", "quota.factor", "budget.landingShare"]);

/** "capacity.plan" and all other numbers of two levels. */
const numbersIn = (policy: Policy): readonly string[] =>
  Object.entries(policy).flatMap(([group, values]) =>
    Object.entries(Object(values)).flatMap(([name, value]) =>
      typeof value === "number" && !NOT_WHOLE.has(`${group}.${name}`) ? [`${group}.${name}`] : [],
    ),
  );

function valueAt(policy: Policy, name: string): unknown {
  const [group = "", key = ""] = name.split(".");
  return Object(Object(policy)[group])[key];
}

/** A budget of zero is a choice; one that is not a number would never be reached. */
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
    wholeProblems(`${of}.${name}`, value ?? 0, 0),
  );

const accountProblems = ({ plan, work, byAgent }: Policy["accounts"]): readonly string[] =>
  Object.entries({ plan, work, ...byAgent }).flatMap(([name, accounts]) =>
    accounts.length > 0 && accounts.every((account) => account !== "")
      ? []
      : [`accounts of ${name} must be at least one name`],
  );
