/** Decides whether another paid job may start: its reserve of tokens and money must fit into the budgets. */

import { type Failure, failure } from "../failure.ts";
import { type Job, taskOfJob } from "../job.ts";
import type { RunState } from "../log/state.ts";
import { isRepair, ROOT, type Task, type TaskId, topId } from "../task.ts";
import { addUsed, NOTHING_USED, type Used } from "../used.ts";
import { chainOf, chainTop } from "./chain.ts";
import type { Limit, Policy } from "./policy.ts";

export type Amount = { readonly tokens: number; readonly microdollars: number };
type Budget = Policy["budget"];

/** True for tasks that may use the part of the budget reserved for landing finished work. */
export const isForLanding = (task: Task): boolean =>
  isRepair(task) || task.tries.refused > 0 || task.spec.spawn?.isForLanding === true;

/** What counts against a budget: the reserve, if the real cost is not known. */
export const chargedOf = ({ tokens, microdollars, unpriced, unaccounted }: Used, budget: Budget): Amount => ({
  tokens: tokens + unaccounted.tokens,
  microdollars: microdollars + unaccounted.microdollars + unpriced * budget.reserveMicrodollars,
});

/** What the run may cost in all; without the part reserved for landing, unless `isLanding`. */
export function runLimit(budget: Budget, isLanding: boolean): Limit {
  const { maxTokens, maxMicrodollars, landingShare } = budget;
  const part = (max: number) => (isLanding ? max : Math.floor(max - max * landingShare));
  return {
    ...(maxTokens === undefined ? {} : { maxTokens: part(maxTokens) }),
    ...(maxMicrodollars === undefined ? {} : { maxMicrodollars: part(maxMicrodollars) }),
  };
}

/** How many more plan or work jobs fit into the rest of the run's budget, each with its reserve. */
export function affordable({ spent, count }: RunState, { budget }: Policy, isLanding: boolean): number {
  if (isLanding ? spent.landingSpent : spent.exhausted) return 0;
  const { maxTokens, maxMicrodollars } = runLimit(budget, isLanding);
  const { tokens, microdollars } = chargedOf(spent, budget);
  const fits = (max: number | undefined, used: number, reserve: number) =>
    max === undefined
      ? Number.POSITIVE_INFINITY
      : Math.floor((max - used) / Math.max(1, reserve)) - count.plan - count.work;
  return Math.max(
    0,
    Math.min(
      fits(maxTokens, tokens, budget.reserveTokens),
      fits(maxMicrodollars, microdollars, budget.reserveMicrodollars),
    ),
  );
}

/** True if no running job can give its reserve back, and no such job fits into the rest of the budget. */
export const isExhausted = (state: RunState, policy: Policy, isLanding: boolean) =>
  state.count.plan + state.count.work === 0 && affordable(state, policy, isLanding) === 0;

/** True if not even a fix can be paid for. */
export const isSpent = (state: RunState, policy: Policy) =>
  state.spent.exhausted && affordable(state, policy, true) === 0;

/**
 * Which budget, the task's or its subtree's, has no room for another job of the task. `running`: how many jobs of the
 * subtree have a reserve. A reserve larger than a whole budget counts as that budget, so that every task is tried once.
 */
export function lacking(
  state: RunState,
  { budget }: Policy,
  task: Task,
  running: number,
): "task" | "subtree" | undefined {
  const top = topId(task.id);
  if (top === undefined) return undefined;
  if (budget.task && !hasRoom(budget.task, usedInChain(state, task), 1, budget)) return "task";
  const used = state.subtrees.get(top) ?? NOTHING_USED;
  return budget.subtree && !hasRoom(budget.subtree, used, running + 1, budget) ? "subtree" : undefined;
}

/** What the task and all its subtasks have used: subtasks use what is left of their worker's budget. */
export function usedInChain(state: RunState, task: Task): Used {
  if (task.spec.shape === "plan" || !state.planners.has(chainTop(state, task))) return task.used;
  return chainOf(state, chainTop(state, task))
    .filter(({ id }) => id !== ROOT) // The goal has no budget of a task.
    .reduce((sum, { used }) => addUsed(sum, used), NOTHING_USED);
}

function hasRoom({ maxTokens, maxMicrodollars }: Limit, used: Used, jobs: number, budget: Budget): boolean {
  const { tokens, microdollars } = chargedOf(used, budget);
  const fits = (max: number | undefined, charged: number, reserve: number) =>
    max === undefined || charged + jobs * Math.min(reserve, max) <= max;
  return (
    fits(maxTokens, tokens, budget.reserveTokens) &&
    fits(maxMicrodollars, microdollars, budget.reserveMicrodollars)
  );
}

/** How many running jobs each subtree has, each with its reserve. */
export function runningIn({ running }: RunState): Map<TaskId, number> {
  const counts = new Map<TaskId, number>();
  for (const id of running.keys()) {
    const top = topId(taskOfJob(id) ?? ROOT);
    if (top !== undefined) counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  return counts;
}

/** The failure that says which budget is spent, of which task, and how to go on. */
export function overBudget(of: "run" | "subtree" | "task", state: RunState, id: TaskId): Failure {
  const whole = topId(id) ?? ROOT;
  const words = {
    run: ["the budget of the run is spent", "raise the budget and start again: the target keeps what landed"],
    subtree: [
      `the budget of ${keyOf(state, whole)} and everything below it is spent`,
      "raise the budget of a subtree (budget.subtree), or ask for less at once",
    ],
    task: [
      `the budget of ${keyOf(state, id)} is spent`,
      "raise the budget of a task (budget.task), or split it into smaller ones",
    ],
  } as const;
  const [what, next] = words[of];
  return { ...failure("budget", what, next), budget: of };
}

const keyOf = (state: RunState, id: TaskId) => state.tasks.get(id)?.spec.key ?? id;

export const isPaid = (job: Job): job is Job & { readonly kind: "plan" | "work" } =>
  job.kind === "plan" || job.kind === "work";
