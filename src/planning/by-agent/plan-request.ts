/** Makes the prompt data for an agent that plans: facts about the repository, the other agents, and limits. */
import type { PlanRequest } from "../../core/brief.ts";
import type { RepositoryFacts } from "../facts.ts";
import { visible } from "../plain.ts";

type Asking = {
  readonly agents: PlanRequest["agents"];
  readonly facts: RepositoryFacts;
  /** The commands that a change must pass, as a person would type them. */
  readonly gate: readonly string[];
  readonly maxConcurrent: number;
};

/**
 * `own`: the agent's last plan as JSON; empty if it has none. The draft of the rules is not shown, because the agent
 * would copy it.
 */
export function planRequest({ agents, facts, gate, maxConcurrent }: Asking, own: string): PlanRequest {
  const lastPlan = own.slice(0, MAX_PLAN_CHARS);
  return {
    lastPlan,
    lastPlanLeftOut: own.length - lastPlan.length,
    limits: { maxTasks: MAX_TASKS, maxConcurrent },
    agents: agents.map(({ name, description, isReadOnly }) => ({ name, description, isReadOnly })),
    repository: factLines(facts, gate),
  };
}

/** The limit of a plan file. */
export const MAX_TASKS = 1_000;
/** About 60 tasks. */
const MAX_PLAN_CHARS = 60_000;

function factLines(
  { languages, tests, testCommand, manifests }: RepositoryFacts,
  gate: readonly string[],
): readonly string[] {
  const line = (what: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${what}: ${items.slice(0, MAX_ITEMS).map(oneLine).join(", ")}`];
  return [
    ...line("Languages", languages),
    ...line("Tests are in", tests),
    ...line("Tests are run by", testCommand === undefined || gate.length > 0 ? [] : [testCommand]),
    ...line("The gate, which every task must pass", gate),
    ...line("Manifests", manifests),
  ];
}

const MAX_ITEMS = 20;
const oneLine = (text: string): string => visible(text).replace(/\s+/g, " ").slice(0, MAX_ITEM_CHARS);
const MAX_ITEM_CHARS = 200;
