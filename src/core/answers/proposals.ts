/** What do a model's proposals for fixes change? How failures belong together, and where to look; the rules stay. */
import type { Problem, RepairLimits } from "../rules/repair.ts";
import { contains, readPath } from "../scope.ts";

type Proposal = {
  readonly id: string;
  readonly description: string;
  readonly scope: readonly string[];
};

/**
 * A failure belongs to the first proposal that names it, else to the first that has one of its files. Those of one
 * proposal get one cause, its files and its words, and are planned for like any others; the rest stay as they were.
 */
export function withProposals(
  problems: readonly Problem[],
  proposals: readonly Proposal[],
  { maxTasks, maxFiles }: RepairLimits,
): readonly Problem[] {
  const usable = proposals.slice(0, maxTasks).flatMap((proposal) => {
    const scope = proposal.scope.flatMap((written) => {
      const read = readPath(written);
      return "path" in read && !read.path.endsWith("/") ? [read.path] : [];
    });
    return scope.length === 0 || scope.length > maxFiles ? [] : [{ ...proposal, scope }];
  });
  return problems.map((problem) => {
    const own =
      usable.find(({ description }) => description.includes(problem.name)) ??
      usable.find(({ scope }) => problem.files.some((file) => contains(scope, file)));
    if (!own) return problem;
    const advice = own.description.slice(0, MAX_ADVICE_CHARS);
    return { ...problem, files: own.scope, cause: `proposal ${own.id}`, advice };
  });
}

/** A page: it becomes part of a task. */
const MAX_ADVICE_CHARS = 4_000;
