/** What does an agent make of a request? A plan that was checked, or the rules' plan with the reasons why it is not. */
import type { Config } from "../config/schema.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { Spent } from "../core/job.ts";
import type { RepositoryFacts } from "../planning/facts.ts";
import type { ExecutionPlan } from "../planning/plan.ts";
import type { Failed } from "../ports/repository.ts";
import type { Environment, Project } from "./project.ts";

export type WantedPlan = {
  readonly request: string;
  /** With its agent in place; the planner that it names, else the agent, is asked. */
  readonly config: Config;
  readonly env: Environment;
  readonly facts: RepositoryFacts;
  /** What the rules made of the request: the draft that the agent begins with, and what is offered without it. */
  readonly rulesPlan: ExecutionPlan;
  readonly maxConcurrent: number;
};

export type PlannedByAgent =
  | { readonly is: "plan"; readonly plan: ExecutionPlan; readonly turns: number; readonly spent?: Spent }
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
  _project: Project,
  { rulesPlan }: WantedPlan,
  _say: (line: string) => void,
  _signal: AbortSignal,
): Promise<PlannedByAgent> {
  const why = failure("agent-unreachable", "agents cannot be asked for plans yet");
  return { is: "rules", plan: rulesPlan, why, reasons: [], turns: 0 };
}
