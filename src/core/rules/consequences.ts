/** Builds facts that several decisions share: a task that fails or is stopped, and a budget that is spent. */

import { type Failure, isLoss } from "../failure.ts";
import type { Handoff } from "../handoff.ts";
import type { Member, Spent } from "../job.ts";
import type { Charge, Fact } from "../log/event.ts";
import { type RunState, runningJobOf, taskOf } from "../log/state.ts";
import type { SubtaskQuestion } from "../subtask.ts";
import { parentId, ROOT, type Task, type TaskId, taskIdsOf } from "../task.ts";
import { withSpent } from "../used.ts";
import { affordable, isForLanding } from "./budget.ts";
import { leave } from "./landing.ts";
import { backoffMs, type Policy } from "./policy.ts";
import { moverOf } from "./train.ts";

/** What a decision is made from: the state, the time, and the policy. */
export type Now = { readonly state: RunState; readonly at: number; readonly policy: Policy };

/** An attempt failed: the task is retried, or fails for good. */
export function attemptFailed(
  { state, at, policy: { retry } }: Now,
  { task: id, attempt }: Member,
  why: {
    readonly failure: Failure;
    readonly charge: Charge;
    readonly handoff?: Handoff;
    readonly notBefore?: number;
  },
): readonly Fact[] {
  const task = taskOf(state, id);
  const { charge, failure, handoff } = why;
  const limit = {
    failed: (task.spec.terms?.criterion === undefined ? retry.maxFailed : retry.maxCriterion) - 1,
    refused: retry.maxRefused,
    lost: retry.maxLost,
    unreachable: retry.maxUnreachable,
    nothing: 0,
  };
  const made = handoff ? { handoff } : {};
  const times = charge === "nothing" ? 0 : task.tries[charge] + 1;
  if (times > limit[charge]) {
    const [failed, ...skips] = failTask(state, id, exhausted(failure, times, task.past));
    return [{ ...failed!, ...made }, ...skips];
  }
  const wait = charge === "nothing" || !isLoss(failure) ? 0 : backoffMs(retry, times, id);
  const retryAt = Math.max(at + wait, why.notBefore ?? at);
  return [{ type: "task.retried", task: id, attempt, failure, ...made, charge, retryAt }];
}

/** Adds "(3 times)" only if the failure was the same each time. */
function exhausted(last: Failure, times: number, past: Task["past"]): Failure {
  if (times === 1) return last;
  const isSame = past.slice(1 - times).every(({ failure }) => failure.message === last.message);
  const how = isSame ? `${times} times` : `the last of ${times} failed attempts`;
  return { ...last, message: `${last.message} (${how})` };
}

export const failTask = (state: RunState, id: TaskId, failure: Failure): readonly Fact[] => [
  { type: "task.failed", task: id, failure },
  ...skipsAfter(state, id),
];

/** Skips the tasks that waited for it: they can never start. */
export const skipsAfter = (state: RunState, id: TaskId): readonly Fact[] =>
  taskIdsOf(state.dag.downstream(id)).map((task) => ({ type: "task.skipped", task, because: id }));

/** Two failures may end the same task; it is skipped or cancelled once. */
export function withoutRepeats(facts: readonly Fact[]): readonly Fact[] {
  const ended = new Set<TaskId>();
  return facts.filter((fact) => {
    if (fact.type !== "task.skipped" && fact.type !== "task.failed" && fact.type !== "task.cancelled")
      return true;
    if (ended.has(fact.task)) return false;
    ended.add(fact.task);
    return true;
  });
}

/** Landing goes on without members that were cancelled or that failed otherwise. */
export function leavingPhase(state: RunState, gone: readonly Member[]): readonly Fact[] {
  const { phase, requeue } = leave(state.landing.phase, gone);
  return phase === state.landing.phase
    ? []
    : [{ type: "landing.turned", ...state.landing, phase, requeue: requeue.map((m) => m.task) }];
}

/** The tasks whose landing may move the target right now. */
export const landingNow = (state: RunState): ReadonlySet<TaskId> =>
  new Set((moverOf(state)?.members ?? []).map(({ task }) => task));

/** Passes the question on to the task above, or to a person. */
export function passedUp(
  state: RunState,
  { id, to }: SubtaskQuestion,
): Fact & { readonly type: "question.passed" } {
  const asked = to === "person" ? undefined : taskOf(state, to);
  const above = asked?.spec.spawn ? parentId(asked.id)! : "person";
  return { type: "question.passed", question: id, to: above };
}

/** Ends the turn of the task that was asked: its answer is no longer needed. */
export function stopAnswering(state: RunState, { to }: SubtaskQuestion): readonly Fact[] {
  const job = to === "person" ? undefined : runningJobOf(state, taskOf(state, to));
  return job ? [{ type: "job.ended", job, how: "aborted" }] : [];
}

/**
 * True if it was the run's budget that a call did not fit into: as the failure says, else by the sums, with the job's
 * cost added.
 */
export function isRunBudget(
  { state, policy }: Now,
  task: Task,
  { failure, spent }: { readonly failure: Failure; readonly spent?: Spent | undefined },
): boolean {
  if (task.id === ROOT) return true; // The goal has no other budget.
  if (failure.budget !== undefined) return failure.budget === "run";
  const after = spent ? { ...state, spent: { ...state.spent, ...withSpent(state.spent, spent) } } : state;
  return affordable(after, policy, isForLanding(task)) === 0;
}

/** Nothing more starts. If a task used the part reserved for landing, that part is spent as well. */
export function runExhausted({ spent }: RunState, task: Task): readonly Fact[] {
  const all = isForLanding(task);
  if (all ? spent.landingSpent : spent.exhausted) return [];
  const { tokens, microdollars } = spent;
  return [{ type: "budget.exhausted", spent: { tokens, microdollars }, ...(all && { all }) }];
}

/** A planner is not asked again; a task that was asked by its subtask passes the question on; any other task fails. */
export function budgetSpent(state: RunState, task: Task, over: Failure): readonly Fact[] {
  if (task.state.is === "delegated") return [{ type: "plan.ended", task: task.id, over }];
  const question = task.state.is === "waiting" && state.questions.get(task.state.answering ?? "");
  return question ? [passedUp(state, question)] : failTask(state, task.id, over);
}
