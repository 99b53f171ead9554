/** `skein plan` by an agent: which agent is asked, and what it answered. */
import { agentProblem } from "../../../app/find-agent.ts";
import { NO_AGENT, settleAgents } from "../../../app/ready-agents.ts";
import { agentLooks } from "../../../compose/agent-looks.ts";
import { type PlannedByAgent, planByAgent } from "../../../compose/plan-by-agent.ts";
import type { Project } from "../../../compose/project.ts";
import type { Config } from "../../../config/index.ts";
import { hasFailed } from "../../../core/result.ts";
import type { RepositoryFacts } from "../../../planning/facts.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { type Exit, hasExit, openHere } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import type { PlanOptions } from "../commands/options.ts";
import { configure } from "../configuration.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";
import { asJson, harmless, plural } from "../words.ts";
import type { WhoPlans } from "./who.ts";

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
  using stopping = stopOnSignal();
  const looks = { project, env, agents: agentLooks(env) };
  const settled = await settleAgents({ config: read.config, mayFind: true }, looks, stopping.signal);
  if (hasFailed(settled)) return { exit: sayRefused(context, settled) };
  const config = withinTokens(settled.config, who.maxTokens);
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
const configuredProblem = async ({ located }: Project, config: Config, env: Context["env"]) => {
  const spec = config.planner ?? config.agent;
  return spec === undefined || spec === "none" ? NO_AGENT : agentProblem(spec, located.top, agentLooks(env));
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
  message: `this plan was made by rules: ${why.message}`,
  ...(reasons.length > 0 && { reasons }),
  ...(why.next !== undefined && { next: why.next }),
});

function refusedText({ why, reasons }: Refused): readonly string[] {
  const against = reasons.filter((reason) => reason !== why.message);
  return [
    `this plan was made by rules: ${why.message}`,
    ...some(against.map((reason) => `problem of its last plan: ${reason}`)),
    ...(why.next === undefined ? [] : [`try: ${why.next}`]),
  ];
}

/** All that is wrong was told while it was asked; who mends a request needs the first ones. */
const MAX_REASONS = 5;

const some = (reasons: readonly string[]): readonly string[] =>
  reasons.length <= MAX_REASONS
    ? reasons
    : [...reasons.slice(0, MAX_REASONS), `and ${plural(reasons.length - MAX_REASONS, "more reason")}`];
