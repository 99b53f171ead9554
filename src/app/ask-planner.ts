/** Lets the configured or found agent make a plan; else the plan is made by rules, with the reason. */
import type { Config } from "../config/schema.ts";
import type { Failure } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import type { Project } from "../ports/project.ts";
import { plural } from "../text/words.ts";
import { agentProblem, type FindAgentParts } from "./find-agent.ts";
import type { LoneParts } from "./lone-agent.ts";
import { planByAgent } from "./plan-by-agent.ts";
import type { Grounds } from "./plan-grounds.ts";
import { NO_AGENT, settleAgents } from "./ready-agents.ts";
import { type Refused, refused } from "./refused.ts";
import { type PlannerWanted, type WhoPlans, whoPlans } from "./who-plans.ts";

/** What an agent is asked, and what is reported meanwhile. */
export type AgentRequest = {
  readonly request: string;
  readonly grounds: Grounds;
  readonly maxConcurrent: number;
  /** Called with lines for people while an agent is asked. */
  readonly say: (line: string) => void;
  /** Called before an agent is asked; the returned signal stops it. */
  readonly onAgent: () => AbortSignal;
};

/** `plan`: the plan that rules made of the request. `said`: questions and answers. */
type Asking = AgentRequest &
  PlannerWanted & { readonly plan: ExecutionPlan; readonly said: readonly string[] };

export type MakePlanParts = FindAgentParts & {
  /** Only an agent needs a repository. */
  readonly openProject: (signal: AbortSignal) => Promise<Project | Failed>;
  readonly alone: (project: Project) => Promise<LoneParts>;
};

export type PlanMade = {
  readonly plan: ExecutionPlan;
  /** Notices for people from making the plan. */
  readonly notices: readonly string[];
  /** Why it was made by rules, although an agent could have made it. */
  readonly byRules?: ByRules;
};

type ByRules = {
  readonly kind: Failure["kind"] | "agent-not-asked";
  readonly message: string;
  readonly reasons?: readonly string[];
  readonly next?: string;
};

export async function askPlanner(
  asking: Asking,
  parts: MakePlanParts,
  signal: AbortSignal,
): Promise<PlanMade | Refused> {
  const who = await whoPlans({ ...asking, top: asking.grounds.top }, parts, signal);
  return who.is === "rules" ? unasked(asking.plan, who) : askAgent(asking, who, parts, signal);
}

/** An agent that was only found is not called without consent; the user is told that it could be. */
function unasked(plan: ExecutionPlan, { unasked: other }: WhoPlans & { readonly is: "rules" }): PlanMade {
  if (other === undefined) return { plan, notices: [] };
  return madeByRules(plan, { kind: "agent-not-asked", ...other });
}

function madeByRules(plan: ExecutionPlan, why: ByRules, before: readonly string[] = []): PlanMade {
  const message = `this plan was made by rules: ${why.message}`;
  const against = (why.reasons ?? []).filter((reason) => reason !== why.message);
  const notices = [
    ...before,
    message,
    ...some(against.map((reason) => `problem of its last plan: ${reason}`)),
    ...(why.next === undefined ? [] : [`try: ${why.next}`]),
  ];
  return { plan, notices, byRules: { ...why, message } };
}

async function askAgent(
  asking: Asking,
  who: WhoPlans & { readonly is: "agent" },
  parts: MakePlanParts,
  signal: AbortSignal,
): Promise<PlanMade | Refused> {
  const project = await parts.openProject(signal);
  if (hasFailed(project)) return refused("repository", project.failure);
  const { plan: rulesPlan, maxConcurrent, say, read } = asking;
  const missing = who.isNamed ? undefined : await configuredProblem(project, read.config, parts);
  if (missing) return madeByRules(rulesPlan, missing, read.notices);
  const stop = AbortSignal.any([signal, asking.onAgent()]);
  const settledAgents = await settleAgents(
    { config: read.config, mayFind: true },
    { ...parts, project },
    stop,
  );
  if (hasFailed(settledAgents)) return settledAgents;
  const config = withinTokens(settledAgents.config, who.maxTokens);
  const request = [asking.request, ...asking.said].join("\n\n");
  const { facts, data } = asking.grounds;
  const asked = await planByAgent(
    { request, config, facts, words: data.words, rulesPlan, maxConcurrent, say },
    { ...parts, ...(await parts.alone(project)), project },
    stop,
  );
  if (hasFailed(asked)) {
    const isKey = asked.failure.kind === "authentication";
    return refused(stop.aborted ? "stopped" : isKey ? "key" : "agent", asked.failure);
  }
  const notices = [...read.notices, ...settledAgents.notices];
  if (asked.is === "rules") {
    const { why, reasons } = asked;
    return madeByRules(rulesPlan, { ...why, ...(reasons.length > 0 && { reasons }) }, notices);
  }
  const warnings = some(asked.warnings).map((one) => `warning: ${one}`);
  return { plan: asked.plan, notices: [...notices, ...warnings] };
}

/** If the configured agent cannot work, the plan is made by rules, with the reason, rather than not at all. */
const configuredProblem = async (
  { located }: Project,
  { planner, agent }: Config,
  { agents }: FindAgentParts,
): Promise<Failure | undefined> => {
  const spec = planner ?? agent;
  return spec === undefined || spec === "none" ? NO_AGENT : agentProblem(spec, located.top, agents);
};

/** Enforces the token limit that the user was quoted. */
const withinTokens = (config: Config, max: number | undefined): Config =>
  max === undefined
    ? config
    : { ...config, budget: { ...config.budget, tokens: Math.min(max, config.budget.tokens ?? max) } };

/** All reasons were shown while the agent was asked; the first ones are enough to improve a request. */
const MAX_REASONS = 5;
const some = (reasons: readonly string[]): readonly string[] =>
  reasons.length <= MAX_REASONS
    ? reasons
    : [...reasons.slice(0, MAX_REASONS), `and ${plural(reasons.length - MAX_REASONS, "more reason")}`];
