/** What could go wrong with a plan, as far as its words, its size and the repository show? */
import type { Score } from "../core/rules/score.ts";
import type { RepositoryFacts } from "./facts.ts";
import type { PlanTask } from "./plan.ts";
import { sizeNotice } from "./size.ts";

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
      ? ["Several tasks may change the same files: what meets is told apart when it lands, and made again."]
      : []),
    ...(score.risk >= 2
      ? ["The request speaks of production, releases or data: look at the plan before you run it."]
      : []),
  ];
}
