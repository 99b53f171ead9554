/** From a request to a plan that is ready: made by rules or by an agent, asked about, with its assumptions stated. */
import type { Config } from "../config/schema.ts";
import type { Failure } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { planByRules } from "../planning/by-rules.ts";
import type { ExecutionPlan, Question } from "../planning/plan.ts";
import { sizeNotice } from "../planning/risks.ts";
import type { Project } from "../ports/project.ts";
import { plural } from "../text/words.ts";
import { agentProblem, type FindAgentParts } from "./find-agent.ts";
import type { LoneParts } from "./lone-agent.ts";
import type { Grounds } from "./plan-grounds.ts";
import { NO_AGENT, settleAgents } from "./ready-agents.ts";
import { misused, type Refused, refused } from "./refused.ts";
import { type PlannerWanted, type WhoPlans, whoPlans } from "./who-plans.ts";

export type MakePlanRequest = PlannerWanted & {
  readonly request: string;
  readonly grounds: Grounds;
  /** What goes before agents' names in the plan. */
  readonly prefix?: string;
  readonly maxConcurrent: number;
  /** Somebody who can answer; asked for only if there is a question. */
  readonly person: () => PlanPerson | undefined;
  /** Hears lines for people, while an agent is asked. */
  readonly say: (line: string) => void;
  /** An agent is about to be asked: what this returns stops it. */
  readonly onAgent: () => AbortSignal;
};

type PlanPerson = {
  /** Undefined: no answer will come. */
  readonly answer: (question: string) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
};

export type MakePlanParts = FindAgentParts & {
  /** Only an agent needs a repository. */
  readonly openProject: (signal: AbortSignal) => Promise<Project | Failed>;
  readonly alone: (project: Project) => Promise<LoneParts>;
};

type PlanMade = {
  readonly plan: ExecutionPlan;
  /** For people: what came in between. */
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

export async function makePlan(
  request: MakePlanRequest,
  parts: MakePlanParts,
  signal: AbortSignal,
): Promise<PlanMade | Refused> {
  const { grounds, maxConcurrent, prefix } = request;
  const { facts, data, agents } = grounds;
  const around = { facts, data, agents, maxConcurrent, ...(prefix === undefined ? {} : { prefix }) };
  const answered = await askQuestions(
    (answers) => planByRules(request.request, { ...around, answers }),
    request.person,
  );
  const plan = {
    ...answered.plan,
    assumptions: [...answered.plan.assumptions, ...grounds.assumptions],
  };
  if (plan.tasks.length === 0) return misused("the request names nothing to do", "say what should be done");
  const who = await whoPlans({ ...request, top: grounds.top }, parts, signal);
  const asked =
    who.is === "rules"
      ? unasked(plan, who)
      : await askAgent({ ...request, plan, said: answered.said }, who, parts, signal);
  if (hasFailed(asked)) return asked;
  const size = asked.plan.planner === "rules" ? undefined : sizeNotice(asked.plan.tasks.length);
  return { ...asked, notices: [...grounds.notices, ...asked.notices, ...(size === undefined ? [] : [size])] };
}

/** Nobody answers more of them in good humour. */
const MAX_QUESTIONS = 5;

/** The most critical first; each answer may settle others, so the plan is made again. */
async function askQuestions(
  make: (answers: ReadonlyMap<string, string>) => ExecutionPlan,
  whoAnswers: () => PlanPerson | undefined,
): Promise<{ readonly plan: ExecutionPlan; readonly said: readonly string[] }> {
  const said: string[] = [];
  const answers = new Map<string, string>();
  let plan = make(answers);
  let person: PlanPerson | undefined;
  for (let asked = 0; asked < MAX_QUESTIONS; asked += 1) {
    const [question] = plan.questions.filter(({ id, blocking }) => blocking && !answers.has(id));
    if (question === undefined) break;
    person ??= whoAnswers();
    if (person === undefined) break;
    const words = (await person.answer(question.question))?.trim() || question.default;
    answers.set(question.id, words);
    said.push(`${question.question}\n${words}`);
    plan = make(answers);
  }
  await person?.close();
  const left = plan.questions.filter(({ id, blocking }) => blocking && !answers.has(id));
  for (const { id, default: usual } of left) answers.set(id, usual);
  return { plan: settled(left.length === 0 ? plan : make(answers), []), said };
}

/** Without a person to ask the default is taken, and said; the rules say it of every answer. */
const settled = (plan: ExecutionPlan, taken: readonly Question[]): ExecutionPlan => ({
  ...plan,
  questions: plan.questions.filter(({ blocking }) => !blocking),
  assumptions: [
    ...plan.assumptions,
    ...taken
      .filter(({ blocking }) => blocking)
      .map(({ question, default: usual }) => `${question} No one was asked; assumed: ${usual}.`),
  ],
});

/** An agent that was only found is not called without a word; that it could be is said. */
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

type Asking = MakePlanRequest & { readonly plan: ExecutionPlan; readonly said: readonly string[] };

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
  const { facts } = asking.grounds;
  const { planByAgent } = await import("./plan-by-agent.ts"); // What it needs takes a while to load.
  const asked = await planByAgent(
    { request, config, facts, rulesPlan, maxConcurrent, say },
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
  return { plan: settled(asked.plan, asked.plan.questions), notices: [...notices, ...warnings] };
}

/** What is only configured is no reason to give no plan: the rules' is made, and why. */
const configuredProblem = async (
  { located }: Project,
  { planner, agent }: Config,
  { agents }: FindAgentParts,
): Promise<Failure | undefined> => {
  const spec = planner ?? agent;
  return spec === undefined || spec === "none" ? NO_AGENT : agentProblem(spec, located.top, agents);
};

/** What was said to be the most that it costs is kept. */
const withinTokens = (config: Config, max: number | undefined): Config =>
  max === undefined
    ? config
    : { ...config, budget: { ...config.budget, tokens: Math.min(max, config.budget.tokens ?? max) } };

/** All that is wrong was told while it was asked; who mends a request needs the first ones. */
const MAX_REASONS = 5;
const some = (reasons: readonly string[]): readonly string[] =>
  reasons.length <= MAX_REASONS
    ? reasons
    : [...reasons.slice(0, MAX_REASONS), `and ${plural(reasons.length - MAX_REASONS, "more reason")}`];
