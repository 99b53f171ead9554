/** Lists the risks of a plan that its words, its size and the repository show. */
import type { Score } from "../core/rules/score.ts";
import type { RepositoryFacts } from "./facts.ts";
import type { PlanTask } from "./plan.ts";

export function risksOf(
  tasks: readonly PlanTask[],
  facts: RepositoryFacts,
  score: Score,
  maxUnsaid: number,
): readonly string[] {
  const changes = tasks.filter(({ delivers }) => delivers === "change");
  const loose = changes.filter(({ scope }) => scope.length === 0);
  const size = sizeNotice(tasks.length, maxUnsaid);
  return [
    ...(size === undefined ? [] : [size]),
    ...(changes.length > 0 && facts.tests.length === 0 && facts.files.length > 0
      ? ["No tests were found: nothing shows that a change breaks something else."]
      : []),
    ...(loose.length > 1
      ? ["Several tasks may change the same files: conflicts show when they land, and are retried."]
      : []),
    ...(score.risk >= 2
      ? ["The request speaks of production, releases or data: read the plan before you run it."]
      : []),
  ];
}

/** What `skein simulate` assumes for one task: about forty model calls, each with the conversation so far. */
const TOKENS_A_TASK = 200_000;

/** The same as in planning/limits.json. */
const MAX_TASKS_UNSAID = 12;

/** Undefined if the number of tasks is not unusual. */
export function sizeNotice(tasks: number, maxUnsaid = MAX_TASKS_UNSAID): string | undefined {
  if (tasks <= maxUnsaid) return undefined;
  const tokens = (tasks * TOKENS_A_TASK).toLocaleString("en");
  return `${tasks} tasks are ${tasks} agent turns at least, about ${tokens} tokens: see skein simulate.`;
}
