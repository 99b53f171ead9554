/** Lets an agent make a checked plan from a request; else returns the rules' plan with the reasons. */
import type { Config } from "../config/schema.ts";
import { quietOf } from "../config/to-parts.ts";
import type { PlanBrief } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import { jobId, type Spent } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Specialist } from "../core/specialist.ts";
import { ROOT, type TaskSpec } from "../core/task.ts";
import { runWatched } from "../jobs/watched.ts";
import { judgePlan } from "../planning/by-agent/judge-plan.ts";
import { MAX_TASKS, planRequest } from "../planning/by-agent/plan-request.ts";
import { MAX_TURNS, type PlannerTurn, planInTurns, type TurnsEnd } from "../planning/by-agent/plan-turns.ts";
import type { Words } from "../planning/data.ts";
import { withRequest } from "../planning/description.ts";
import type { RepositoryFacts } from "../planning/facts.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import { type Ask, asSaid, type Said } from "../ports/agent.ts";
import type { AgentLooks } from "../ports/agent-looks.ts";
import type { LoneAgent } from "../ports/lone-agent.ts";
import type { Project } from "../ports/project.ts";
import { redactFields } from "../text/redact.ts";
import { agentName } from "./agent-words.ts";
import { agentProblem } from "./find-agent.ts";
import type { LoneParts } from "./lone-agent.ts";

type AgentPlanRequest = {
  readonly request: string;
  /** The configuration with its agent set. Its planner is asked, or its agent if it names no planner. */
  readonly config: Config;
  readonly facts: RepositoryFacts;
  /** Words by which orders and limits in the request are recognised. */
  readonly words: Words;
  /** The plan that rules made of the request, for the case that the agent's fails; the agent does not see it. */
  readonly rulesPlan: ExecutionPlan;
  readonly maxConcurrent: number;
  /** Called with lines for people while it goes on. */
  readonly say: (line: string) => void;
};

type AgentPlanParts = Pick<LoneParts, "openAlone" | "specialists" | "surroundings" | "gateLines"> & {
  readonly project: Pick<Project, "located">;
  readonly agents: AgentLooks;
};

type PlannedByAgent =
  | {
      readonly is: "plan";
      readonly plan: ExecutionPlan;
      /** What could be improved in the plan. */
      readonly warnings: readonly string[];
      readonly turns: number;
      readonly spent?: Spent;
    }
  /**
   * The rules' plan, and why there is none of the agent: `reasons` are those against its last answer, if it gave one.
   */
  | {
      readonly is: "rules";
      readonly plan: ExecutionPlan;
      readonly why: Failure;
      readonly reasons: readonly string[];
      readonly turns: number;
      readonly spent?: Spent;
    }
  /** Only a person can help: no agent, no key, no such program; or planning was stopped. */
  | Failed;

/** Makes no run, and leaves nothing behind. */
export async function planByAgent(
  request: AgentPlanRequest,
  parts: AgentPlanParts,
  signal: AbortSignal,
): Promise<PlannedByAgent> {
  const { config, rulesPlan, say } = request;
  const { located } = parts.project;
  const spec = config.planner ?? config.agent;
  if (spec === undefined) return { failure: NOBODY };
  if (spec === "none") return unasked(rulesPlan, ONLY_RULES);
  const problem = await agentProblem(spec, located.top, parts.agents);
  if (problem)
    return problem.kind === "agent-unreachable" ? unasked(rulesPlan, problem) : { failure: problem };
  const alone = await parts.openAlone(config, spec);
  if (hasFailed(alone)) return alone;
  try {
    const name = agentName(spec);
    const end = await planWith(alone, { ...request, ...parts, name }, signal);
    say(costLine(end));
    return ended(end, { ...request, name }, signal);
  } finally {
    for (const left of await alone.close()) say(`could not be removed: ${left}`);
  }
}

const NOBODY = failure(
  "agent-unreachable",
  "no agent is configured",
  "name one: --agent or --model, or agent: in skein.yaml; or plan by rules",
);
const ONLY_RULES = failure("policy", "planner: none is configured, so no agent is asked");

const unasked = (plan: ExecutionPlan, why: Failure): PlannedByAgent => ({
  is: "rules",
  plan,
  why,
  reasons: [],
  turns: 0,
});

type Asking = AgentPlanRequest & Omit<AgentPlanParts, "agents"> & { readonly name: string };

async function planWith(alone: LoneAgent, asking: Asking, signal: AbortSignal): Promise<TurnsEnd> {
  const { name, say } = asking;
  const agents = await asking.specialists();
  const ask = await turnsOf(alone, { ...asking, agents }, signal);
  say(`asking ${name} for a plan`);
  let reasons: readonly string[] = [];
  const end = await planInTurns(
    ask,
    (text) => redactFields(judgePlan(text, { ...asking, agents }), alone.redact),
    (refused, number) => {
      reasons = refused.reasons;
      const next = number < MAX_TURNS ? `${name} is told so, and asked again` : "that was its last try";
      say(`plan ${number} of at most ${MAX_TURNS} was refused (${next}): ${reasons.join("; ")}`);
    },
  );
  return end.is === "plan" ? end : { ...end, reasons };
}

/** Prepares the turns: each in a workspace at HEAD, with tools that only read. */
async function turnsOf(
  { agent, workspaces, signs }: LoneAgent,
  asking: Asking & { readonly agents: readonly Specialist[] },
  signal: AbortSignal,
): Promise<(turn: PlannerTurn) => Promise<Said>> {
  const { config, request, agents: roles, say } = asking;
  const { head } = asking.project.located;
  const [facts, gate] = await Promise.all([
    asking.surroundings.of(head, signal),
    asking.gateLines(config, head, signal),
  ]);
  const tell = ({ ms }: { readonly ms: number }) =>
    ms > 0 && say(`no sign of life for ${Math.round(ms / 60_000)} min`);
  return async ({ number, refused }) => {
    const job = jobId({ kind: "plan", task: ROOT, turn: number });
    const workspace = await workspaces.take({ job, commit: head, use: "agent" }, signal);
    if (hasFailed(workspace)) return { is: "failed", failure: workspace.failure };
    const { folder, environment } = workspace;
    const brief: PlanBrief = {
      ...briefFor(request, head, number),
      rejected: refused?.reasons ?? [],
      request: planRequest({ ...asking, gate }, refused?.json ?? ""),
    };
    const told: Ask = {
      ...{ job, brief, folder, environment, roles, maxMs: config.timeout.plan },
      ...(hasFailed(facts) ? {} : { facts }), // Without facts, the agent can still read the repository.
    };
    const said = await runWatched(agent, told, { ...signs, quiet: quietOf(config), tell }, signal);
    await workspaces.release(workspace);
    return asSaid(said);
  };
}

const briefFor = (goal: string, tip: string, turn: number): PlanBrief => ({
  ...{
    kind: "plan",
    run: "plan",
    goal,
    task: ROOT,
    spec: { ...SPEC, description: goal },
    depth: 0,
    turn,
    tip,
  },
  ...{ transcript: "plan", scratchpad: "", first: true, maxTasks: MAX_TASKS },
  ...{ rejected: [], notes: [], news: [], active: [], concerns: [], steers: [] },
});

const SPEC: TaskSpec = {
  key: "plan",
  description: "",
  acceptance: "Every part of the request is in a task",
  scope: ["./"],
  after: [],
  priority: 5,
  delivers: "change",
  shape: "plan",
  slug: "plan",
};

function ended(
  end: TurnsEnd,
  { rulesPlan, request, name }: Pick<Asking, "rulesPlan" | "request" | "name">,
  signal: AbortSignal,
): PlannedByAgent {
  const { turns, spent } = end;
  const cost = { turns, ...(spent && { spent }) };
  if (end.is === "plan")
    return { is: "plan", plan: withRequest(end.plan, request), warnings: end.warnings, ...cost };
  if (signal.aborted) return { failure: failure("cancelled", "planning was stopped") };
  // Another answer cannot correct the settings or the installation.
  if (end.is === "failed" && end.failure.kind === "policy") return { failure: end.failure };
  const why = end.is === "failed" ? end.failure : unusable(name, turns);
  return { is: "rules", plan: rulesPlan, why, reasons: end.reasons, ...cost };
}

/** An unknown price is left out, never shown as zero. */
function costLine({ turns, spent }: TurnsEnd): string {
  const { tokens, microdollars } = spent ?? {};
  return [
    `asked ${turns === 1 ? "once" : `${turns} times`}`,
    ...(tokens === undefined ? [] : [`${tokens.toLocaleString("en")} tokens`]),
    ...(microdollars === undefined ? [] : [`$${(microdollars / 1_000_000).toFixed(4)}`]),
    ...(spent?.unaccounted
      ? [`and up to ${spent.unaccounted.tokens.toLocaleString("en")} that were cut off`]
      : []),
  ].join(", ");
}

const unusable = (name: string, turns: number): Failure =>
  failure(
    "plan-invalid",
    `${name} answered ${turns} times, and none of its plans could be used`,
    "use this plan, or edit it; or ask again, with another --agent or --model, or for less at once",
  );
