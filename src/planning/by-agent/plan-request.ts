/** What is an agent told that is asked for a plan? A draft, the repository in a few lines, who there is, and limits. */
import type { PlanRequest } from "../../core/brief.ts";
import type { RepositoryFacts } from "../facts.ts";
import type { ExecutionPlan } from "../plan.ts";
import { visible } from "./answer-json.ts";

export type Asking = {
  readonly agents: PlanRequest["agents"];
  readonly facts: RepositoryFacts;
  readonly rulesPlan: ExecutionPlan;
  readonly maxConcurrent: number;
};

/** `own`: its last plan, as JSON; empty if there is none. */
export function planRequest({ agents, facts, rulesPlan, maxConcurrent }: Asking, own: string): PlanRequest {
  const whole = own === "" ? JSON.stringify(rulesPlan, undefined, 1) : own;
  const draft = whole.slice(0, MAX_DRAFT_CHARS);
  const minDepth = rulesPlan.score?.min_depth;
  return {
    draft,
    draftIs: own === "" ? "of the rules" : "its own",
    draftLeftOut: whole.length - draft.length,
    limits: { maxTasks: MAX_TASKS, maxConcurrent, ...(minDepth === undefined ? {} : { minDepth }) },
    agents: agents.map(({ name, description, isReadOnly }) => ({ name, description, isReadOnly })),
    repository: factLines(facts),
  };
}

/** As many as a plan file can have. */
export const MAX_TASKS = 1_000;
/** Some 60 tasks: who needs more of a draft than that has its own ideas. */
const MAX_DRAFT_CHARS = 60_000;

function factLines({ languages, tests, testCommand, manifests }: RepositoryFacts): readonly string[] {
  const line = (what: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${what}: ${items.slice(0, MAX_ITEMS).map(oneLine).join(", ")}`];
  return [
    ...line("Languages", languages),
    ...line("Tests are in", tests),
    ...line("Tests are run by", testCommand === undefined ? [] : [testCommand]),
    ...line("Manifests", manifests),
  ];
}

const MAX_ITEMS = 20;
const oneLine = (text: string): string => visible(text).replace(/\s+/g, " ").slice(0, MAX_ITEM_CHARS);
const MAX_ITEM_CHARS = 200;
