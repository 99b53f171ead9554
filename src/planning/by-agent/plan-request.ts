/** What is an agent told that is asked for a plan? The repository in a few lines, who there is, and limits. */
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

/** `own`: its last plan, as JSON; empty if there is none. What the rules made is not shown: it would be copied. */
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

/** As many as a plan file can have. */
export const MAX_TASKS = 1_000;
/** Some 60 tasks. */
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
