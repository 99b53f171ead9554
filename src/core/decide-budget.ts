/** What follows when the next call of a job was refused for its cost? */
import { affordable, isForLanding } from "./budget.ts";
import { failTask, passedUp } from "./consequences.ts";
import type { Fact } from "./event.ts";
import type { Failure } from "./failure.ts";
import type { Spent } from "./job.ts";
import type { Rules } from "./policy.ts";
import type { RunState } from "./state.ts";
import { ROOT, type Task } from "./task.ts";
import { withSpent } from "./used.ts";

/** Is it the run's budget that is spent? As it was said; else by the sums, with what the job has cost. */
export function isRuns(
  state: RunState,
  task: Task,
  { failure, spent }: { readonly failure: Failure; readonly spent?: Spent },
  { policy }: Rules,
): boolean {
  if (task.id === ROOT) return true; // It has no other.
  if (failure.budget !== undefined) return failure.budget === "run";
  const after = spent ? { ...state, spent: { ...state.spent, ...withSpent(state.spent, spent) } } : state;
  return affordable(after, policy, isForLanding(task)) === 0;
}

/** Nothing more is started: the run drains. If even landing could not go on with its part, that is spent as well. */
export function runExhausted({ spent }: RunState, task: Task): readonly Fact[] {
  const all = isForLanding(task);
  if (all ? spent.landingSpent : spent.exhausted) return [];
  const { tokens, microdollars } = spent;
  return [{ type: "budget.exhausted", spent: { tokens, microdollars }, ...(all && { all }) }];
}

/** A planner is not asked again, nor a task that its subtask asks something; anybody else has failed. */
export function budgetSpent(state: RunState, task: Task, over: Failure): readonly Fact[] {
  if (task.state.is === "delegated") return [{ type: "plan.ended", task: task.id, over }];
  const question = task.state.is === "waiting" && state.questions.get(task.state.answering ?? "");
  return question ? [passedUp(state, question)] : failTask(state, task.id, over);
}
