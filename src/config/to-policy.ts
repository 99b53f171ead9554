/** Makes the policy that a configuration asks for, and reports the policy's problems by the configuration's keys. */
import { availableParallelism } from "node:os";
import { defaultPolicy, FIRST_LOOKS, FLEET_OFFER_MS, type Limit, type Policy } from "../core/rules/policy.ts";
import { policyProblems } from "../core/rules/policy-check.ts";
import { accountsOf } from "./accounts.ts";
import type { Config } from "./schema.ts";

const MICRO = 1_000_000;

export function toPolicy(config: Config): Policy {
  const { retry, budget, landing, subplanner } = config;
  const { grace, ...leaseMs } = config.timeout;
  return {
    ...defaultPolicy,
    capacity: { plan: config.planners, work: config.workers },
    leaseMs,
    offerMs: config.fleet.enabled ? FLEET_OFFER_MS : 0,
    root: { ...defaultPolicy.root, replanAfter: config.replanAfter },
    subplanner: { ...defaultPolicy.subplanner, maxTasksPerAnswer: subplanner.maxSubtasks },
    decompose: decomposeOf(config),
    approval: config.approve,
    gateChanges: config.gateChanges ?? "flag",
    evidence: config.evidence,
    branchPrefix: config.branchPrefix,
    order: config.order,
    overlap: config.overlap,
    sharedFiles: config.sharedFiles,
    retry: {
      ...defaultPolicy.retry,
      maxFailed: retry.maxFailed,
      maxCriterion: retry.maxCriterion,
      maxRefused: retry.maxRefused,
      maxLost: retry.maxLost,
      maxUnreachable: retry.maxUnreachable,
      graceMs: grace,
      firstMs: retry.first,
      maxMs: retry.max,
    },
    landing: { ...defaultPolicy.landing, ...landing, gates: gatesOf(config) },
    subtasks: { ...defaultPolicy.subtasks, ...config.subtasks },
    questions: { ...defaultPolicy.questions, waitMs: config.questions.wait },
    sweep: { ...defaultPolicy.sweep, redMs: config.sweep.red, greenMs: config.sweep.green },
    repair: config.repair,
    baseFirstMs: FIRST_LOOKS * config.timeout.check,
    ...(config.onRedBase !== undefined && { onRedBase: config.onRedBase }),
    probe: config.gateProbe === "auto",
    accounts: accountsIn(config),
    quota: { ...defaultPolicy.quota, firstMs: config.quota.first, maxMs: config.quota.max },
    budget: {
      ...defaultPolicy.budget,
      ...limitOf(budget),
      ...partOf("task", limitOf(budget.task)),
      ...partOf("subtree", limitOf(budget.subtree)),
      landingShare: budget.landingShare,
      reserveTokens: budget.reserve.tokens,
      reserveMicrodollars: Math.round(budget.reserve.dollars * MICRO),
    },
  };
}

/** A gate usually uses more than one core, and more than this many at once wait for the disk. */
const MAX_AUTO_GATES = 8;

export const gatesOf = ({ gates }: Pick<Config, "gates">): number =>
  gates === "auto" ? Math.min(MAX_AUTO_GATES, Math.max(1, Math.floor(availableParallelism() / 2))) : gates;

function decomposeOf({ subplanner }: Config): Policy["decompose"] {
  const { maxDepth, scopeThreshold, moduleThreshold, scoreThreshold } = subplanner;
  return {
    ...{ maxDepth, scopeThreshold },
    ...(moduleThreshold !== undefined && { moduleThreshold }),
    ...(scoreThreshold !== undefined && { scoreThreshold }),
  };
}

function accountsIn({ agent, planner, fallback }: Config): Policy["accounts"] {
  if (agent === undefined) return defaultPolicy.accounts;
  const work = accountsOf(agent, fallback);
  const plan = planner === undefined || planner === "none" ? work : accountsOf(planner, fallback);
  return { ...defaultPolicy.accounts, work, plan };
}

const partOf = (name: "task" | "subtree", limit: Limit): Partial<Policy["budget"]> =>
  Object.keys(limit).length === 0 ? {} : { [name]: limit };

type Wanted = { readonly tokens?: number | undefined; readonly dollars?: number | undefined };

const limitOf = (wanted: Wanted): Limit => ({
  ...(wanted.tokens === undefined ? {} : { maxTokens: wanted.tokens }),
  ...(wanted.dollars === undefined ? {} : { maxMicrodollars: Math.round(wanted.dollars * MICRO) }),
});

/** The problems that the policy's own check finds, by the configuration's keys. */
export function policyTrouble(config: Config): readonly { readonly key: string; readonly message: string }[] {
  return policyProblems(toPolicy(config)).map((problem) => {
    const [, name = "", message = problem] = /^([\w.]+) ([\s\S]*)$/.exec(problem) ?? [];
    return { key: keyOf(name), message };
  });
}

/** Names that the rules of `keyOf` do not cover. */
const KEYS: Readonly<Record<string, string>> = {
  "capacity.plan": "planners",
  "capacity.work": "workers",
  "landing.gates": "gates",
  "root.replanAfter": "replanAfter",
  "subplanner.maxTasksPerAnswer": "subplanner.maxSubtasks",
  "retry.graceMs": "timeout.grace",
};

const keyOf = (name: string): string =>
  KEYS[name] ??
  name
    .replace(/^leaseMs\./, "timeout.")
    .replace(/^decompose\./, "subplanner.")
    .replace(/Ms$/, "")
    .replace(/^budget\.reserve(?=[A-Z])/, "budget.reserve.")
    .replace(/(?<=^budget\..*)(?:max)?Tokens$/, "tokens")
    .replace(/(?<=^budget\..*)(?:max)?Microdollars$/, "dollars");
