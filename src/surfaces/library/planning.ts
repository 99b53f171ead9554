/**
 * Makes, reads, checks and shows plans for a program; `createOrchestrator` runs them.
 *
 * ```ts
 * import { lintPlan, planRequest, renderMarkdown } from "skein-agents/planning";
 *
 * const plan = await planRequest("Build user auth with login, logout, register", { repository: "." });
 * if ("failure" in plan) throw new Error(plan.failure.message);
 * console.log(renderMarkdown(plan), lintPlan(plan)); // three tasks in one wave; what is found is advice
 * ```
 *
 * @module skein-agents/planning
 */
import path from "node:path";
import { groundsOf } from "../../app/plan-grounds.ts";
import { groundsParts } from "../../compose/planning.ts";
import { failure, messageOf } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import { planByRules } from "../../planning/by-rules.ts";
import type { ExecutionPlan } from "../../planning/plan.ts";

export { type PlanAround, planByRules } from "../../planning/by-rules.ts";
export type { PlanningData } from "../../planning/data.ts";
export { NO_FACTS, type RepositoryFacts } from "../../planning/facts.ts";
export {
  type PlanProblem,
  type ReadPlan,
  type ReadPlanOptions,
  readPlan,
} from "../../planning/files/read-plan.ts";
export { type Finding, type LintFacts, lintPlan } from "../../planning/lint.ts";
export {
  type ExecutionPlan,
  isReady,
  type PlanTask,
  type Question,
  type Score,
} from "../../planning/plan.ts";
export { parseMarkdown, renderMarkdown } from "../../planning/render/markdown.ts";
export { criticalPath, type Waves, wavesOf } from "../../planning/waves.ts";

export type PlanRequestOptions = {
  /**
   * A folder in the repository of the request, whose files, roles and word lists are used. This folder unless given.
   */
  readonly repository?: string;
  /** How many agents may work at once; 8 unless given. */
  readonly maxConcurrent?: number;
  /** Answers by the ids of an earlier plan's questions. */
  readonly answers?: ReadonlyMap<string, string>;
  readonly signal?: AbortSignal;
};

/** Plans by rules, without a model. The plan's questions list what is unclear, and it is made with their defaults. */
export async function planRequest(
  request: string,
  options: PlanRequestOptions = {},
): Promise<ExecutionPlan | Failed> {
  const { repository = ".", maxConcurrent, answers, signal } = options;
  if (maxConcurrent !== undefined && !isWorkers(maxConcurrent))
    return refused(`maxConcurrent must be a whole number from 1 to ${MAX_WORKERS}, not ${maxConcurrent}`);
  const limit = AbortSignal.timeout(MAX_LOOK_MS);
  const grounds = await groundsOf(
    path.resolve(repository),
    groundsParts,
    signal ? AbortSignal.any([signal, limit]) : limit,
  );
  if (signal?.aborted)
    return { failure: failure("interrupted", `stopped before it was planned: ${messageOf(signal.reason)}`) };
  if (hasFailed(grounds)) return grounds;
  if ("problems" in grounds) return refused(grounds.problems.join("; "), "mend the files in .skein/planning");
  const { facts, data, agents, assumptions } = grounds;
  const plan = planByRules(request, {
    ...{ facts, data, agents, maxConcurrent: maxConcurrent ?? data.limits.maxConcurrent },
    ...(answers && { answers }),
  });
  return { ...plan, assumptions: [...plan.assumptions, ...assumptions] };
}

const refused = (message: string, next?: string): Failed => ({ failure: failure("policy", message, next) });

/** The most that a plan file may say. */
const MAX_WORKERS = 10_000;
const isWorkers = (count: number) => Number.isInteger(count) && count >= 1 && count <= MAX_WORKERS;

/** Looking at a repository takes milliseconds; anything longer hangs. */
const MAX_LOOK_MS = 20_000;
