/** `skein plan` by an agent: who is asked, and what came of it? */
import { agentProblem } from "../../../compose/agents.ts";
import { type PlannedByAgent, planByAgent } from "../../../compose/plan-by-agent.ts";
import type { Project } from "../../../compose/project.ts";
import type { Config } from "../../../config/index.ts";
import type { RepositoryFacts } from "../../../planning/facts.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { PlanOptions } from "../verbs/options.ts";
import { asJson, harmless, plural } from "../words.ts";
import { settleAgents } from "./agents.ts";
import { configure } from "./configuration.ts";
import type { WhoPlans } from "./plan-who.ts";
import { type Exit, hasExit, openHere } from "./project.ts";
import { stopOnSignal } from "./signals.ts";

type Wanted = Omit<PlanOptions, "maxConcurrent"> & {
  readonly request: string;
  readonly facts: RepositoryFacts;
  readonly rulesPlan: ExecutionPlan;
  readonly maxConcurrent: number;
  readonly who: WhoPlans & { readonly is: "agent" };
};

/** Ctrl-C gives up, and nothing is left running. */
export async function askAgent(
  context: Context,
  wanted: Wanted,
): Promise<{ readonly plan: ExecutionPlan; readonly notices: readonly string[] } | Exit> {
  const project = await openHere(context, wanted);
  if (hasExit(project)) return project;
  const read = await configure(context, project, wanted);
  if (hasExit(read)) return read;
  const { request, facts, rulesPlan, maxConcurrent, who } = wanted;
  const { env } = context;
  const missing = who.isNamed ? undefined : await configuredProblem(project, read.config, env);
  if (missing) return byRules(context, { plan: rulesPlan, why: missing, reasons: [] }, read.notices);
  const settled = await settleAgents(context, project, read.config);
  if (hasExit(settled)) return settled;
  const config = withinTokens(settled.config, who.maxTokens);
  using stopping = stopOnSignal();
  const say = (line: string) => {
    if (!context.json) context.err.write(`${harmless(line)}\n`);
  };
  const asked = await planByAgent(
    project,
    { request, config, env, facts, rulesPlan, maxConcurrent },
    say,
    stopping.signal,
  );
  if (hasFailed(asked)) {
    if (stopping.signal.aborted) return { exit: refuse(context, EXIT.interrupted, asked.failure) };
    const isKey = asked.failure.kind === "authentication";
    return {
      exit: refuse(context, isKey ? EXIT.authentication : EXIT.agentUnavailable, asked.failure),
    };
  }
  const notices = [...read.notices, ...settled.notices];
  if (asked.is === "plan")
    return {
      plan: asked.plan,
      notices: [...notices, ...some(asked.warnings).map((one) => `warning: ${one}`)],
    };
  return byRules(context, asked, notices);
}

/** What is only configured is no reason to give no plan: the rules' is made, and why. */
const configuredProblem = (project: Project, config: Config, env: Context["env"]) => {
  const spec = config.planner ?? config.agent;
  const agent = spec === undefined || spec === "none" ? {} : { agent: spec };
  return agentProblem(project, { ...config, ...agent, planner: "none" }, env);
};

/** What was said to be the most that it costs is kept. */
const withinTokens = (config: Config, max: number | undefined): Config =>
  max === undefined
    ? config
    : { ...config, budget: { ...config.budget, tokens: Math.min(max, config.budget.tokens ?? max) } };

/** Who reads JSON has the plan on standard output, and must not take it for the agent's. */
function byRules(context: Context, refused: Refused, notices: readonly string[]) {
  if (context.json) context.err.write(`${asJson({ notice: refusedNotice(refused) })}\n`);
  return { plan: refused.plan, notices: [...notices, ...refusedText(refused)] };
}

type Refused = Pick<Extract<PlannedByAgent, { readonly is: "rules" }>, "plan" | "why" | "reasons">;

const refusedNotice = ({ why, reasons }: Refused) => ({
  kind: why.kind,
  message: `this is the rules' plan: ${why.message}`,
  ...(reasons.length > 0 && { reasons }),
  ...(why.next !== undefined && { next: why.next }),
});

function refusedText({ why, reasons }: Refused): readonly string[] {
  const against = reasons.filter((reason) => reason !== why.message);
  return [
    `this is the rules' plan: ${why.message}`,
    ...some(against.map((reason) => `wrong with its last plan: ${reason}`)),
    ...(why.next === undefined ? [] : [`try: ${why.next}`]),
  ];
}

/** All that is wrong was told while it was asked; who mends a request needs the first ones. */
const MAX_REASONS = 5;

const some = (reasons: readonly string[]): readonly string[] =>
  reasons.length <= MAX_REASONS
    ? reasons
    : [...reasons.slice(0, MAX_REASONS), `and ${plural(reasons.length - MAX_REASONS, "more reason")}`];
