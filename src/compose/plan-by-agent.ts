/** What does an agent make of a request? A plan that was checked, or the rules' plan with the reasons why it is not. */

import { agentProblem } from "../app/find-agent.ts";
import type { Config } from "../config/schema.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { Spent } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { judgePlan, reasonsForPeople } from "../planning/by-agent/judge-plan.ts";
import { MAX_TURNS, planInTurns, type TurnsEnd } from "../planning/by-agent/plan-turns.ts";
import { withRequest } from "../planning/description.ts";
import type { RepositoryFacts } from "../planning/facts.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import { redactFields } from "../text/redact.ts";
import { agentLooks } from "./agent-looks.ts";
import { nameOf } from "./lone-agent.ts";
import { type DeskParts, openDesk } from "./plan-by-agent-desk.ts";
import { openPlanningPlace, type PlanningPlace } from "./plan-by-agent-place.ts";
import type { Environment, Project } from "./project.ts";

type WantedPlan = {
  readonly request: string;
  /** With its agent in place; the planner that it names, else the agent, is asked. */
  readonly config: Config;
  readonly env: Environment;
  readonly facts: RepositoryFacts;
  /** What the rules made of the request: what is offered without the agent. The agent does not see it. */
  readonly rulesPlan: ExecutionPlan;
  readonly maxConcurrent: number;
};

export type PlannedByAgent =
  | {
      readonly is: "plan";
      readonly plan: ExecutionPlan;
      /** What could be better. */
      readonly warnings: readonly string[];
      readonly turns: number;
      readonly spent?: Spent;
    }
  /** The rules' plan, and why the agent's is not there: `reasons` are those against its last answer, if it gave one. */
  | {
      readonly is: "rules";
      readonly plan: ExecutionPlan;
      readonly why: Failure;
      readonly reasons: readonly string[];
      readonly turns: number;
      readonly spent?: Spent;
    }
  /** Only a person can help: no agent, no key, no such program; or somebody said stop. */
  | Failed;

/** No run is made, and nothing is left behind. `say`: lines for people, while it goes on. */
export async function planByAgent(
  project: Project,
  wanted: WantedPlan,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<PlannedByAgent> {
  const { config, env, rulesPlan } = wanted;
  const spec = config.planner ?? config.agent;
  if (spec === undefined) return { failure: NOBODY };
  if (spec === "none") return unasked(rulesPlan, ONLY_RULES);
  const problem = await agentProblem(spec, project.located.top, agentLooks(env));
  if (problem)
    return problem.kind === "agent-unreachable" ? unasked(rulesPlan, problem) : { failure: problem };
  const place = await openPlanningPlace(project.stateFolder);
  if (hasFailed(place)) return place;
  try {
    const end = await planAt(place, project, { ...wanted, spec }, { say, signal });
    say(costLine(end));
    return ended(end, { ...wanted, name: nameOf(spec) }, signal);
  } finally {
    for (const left of await place.close()) say(`could not be removed: ${left}`);
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

async function planAt(
  place: PlanningPlace,
  project: Project,
  parts: DeskParts,
  heard: { readonly say: (line: string) => void; readonly signal: AbortSignal },
): Promise<TurnsEnd> {
  const name = nameOf(parts.spec);
  const { agents, redact, ask } = await openDesk(project, parts, place, heard);
  heard.say(`asking ${name} for a plan`);
  let reasons: readonly string[] = [];
  const end = await planInTurns(
    ask,
    (text) => redactFields(judgePlan(text, { ...parts, name, agents }), redact),
    (refused, number) => {
      reasons = reasonsForPeople(refused);
      const next = number < MAX_TURNS ? `${name} is told so, and asked again` : "that was its last try";
      heard.say(`plan ${number} of at most ${MAX_TURNS} was refused (${next}): ${reasons.join("; ")}`);
    },
  );
  return end.is === "plan" ? end : { ...end, reasons };
}

function ended(
  end: TurnsEnd,
  { rulesPlan, request, name }: Pick<WantedPlan, "rulesPlan" | "request"> & { readonly name: string },
  signal: AbortSignal,
): PlannedByAgent {
  const { turns, spent } = end;
  const cost = { turns, ...(spent && { spent }) };
  if (end.is === "plan")
    return { is: "plan", plan: withRequest(end.plan, request), warnings: end.warnings, ...cost };
  if (signal.aborted) return { failure: failure("cancelled", "planning was stopped") };
  // What is wrong with the settings or the installation, no other answer mends.
  if (end.is === "failed" && end.failure.kind === "policy") return { failure: end.failure };
  const why = end.is === "failed" ? end.failure : unusable(name, turns);
  return { is: "rules", plan: rulesPlan, why, reasons: end.reasons, ...cost };
}

/** A price that nobody knows is left out, never nothing. */
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
    "go on with this plan, or edit it; or ask again, with another --agent or --model, or for less at once",
  );
