/** What else is true when a task fails or is stopped? The facts that several decisions share. */
import type { Charge, Fact } from "./event.ts";
import { type Failure, isLoss } from "./failure.ts";
import type { Handoff } from "./handoff.ts";
import type { Member } from "./job.ts";
import { leave } from "./landing.ts";
import { backoffMs, type Policy, type Rules } from "./policy.ts";
import { type RunState, runningJobOf, taskOf } from "./state.ts";
import type { Question } from "./subtask.ts";
import { parentId, type Task, type TaskId, taskIdsOf } from "./task.ts";

/** An attempt came to nothing: the task is tried again, or has failed. */
export function attemptFailed(
  state: RunState,
  task: Task,
  attempt: number,
  why: {
    readonly failure: Failure;
    readonly charge: Charge;
    readonly handoff?: Handoff;
    readonly notBefore?: number;
  },
  { at, policy }: Rules,
): readonly Fact[] {
  const { retry } = policy;
  const { charge, failure: because } = why;
  const limit = {
    failed: (task.spec.terms?.criterion === undefined ? retry.maxFailed : retry.maxCriterion) - 1,
    refused: retry.maxRefused,
    lost: retry.maxLost,
    unreachable: retry.maxUnreachable,
    nothing: 0,
  };
  const made = why.handoff ? { handoff: why.handoff } : {};
  const times = charge === "nothing" ? 0 : task.tries[charge] + 1;
  if (times > limit[charge]) {
    const [failed, ...skips] = failTask(state, task.id, exhausted(because, times, task.past));
    return [{ ...failed!, ...made }, ...skips];
  }
  const wait = charge === "nothing" ? 0 : waitMs(retry, because, times, task.id);
  const retryAt = Math.max(at + wait, why.notBefore ?? at);
  return [{ type: "task.retried", task: task.id, attempt, failure: because, ...made, charge, retryAt }];
}

/** What is lost waits longer each time. */
export const waitMs = (retry: Policy["retry"], why: Failure, times: number, name: string): number =>
  isLoss(why) ? backoffMs(retry, times, name) : 0;

/** "(3 times)" only of what was the same each time. */
function exhausted(last: Failure, times: number, past: Task["past"]): Failure {
  if (times === 1) return last;
  const isSame = past.slice(1 - times).every(({ failure }) => failure.message === last.message);
  const how = isSame ? `${times} times` : `the last of ${times} attempts that came to nothing`;
  return { ...last, message: `${last.message} (${how})` };
}

export const failTask = (state: RunState, id: TaskId, why: Failure): readonly Fact[] => [
  { type: "task.failed", task: id, failure: why },
  ...skipsAfter(state, id),
];

/** What waited for it can never start. */
export const skipsAfter = (state: RunState, id: TaskId): readonly Fact[] =>
  taskIdsOf(state.dag.downstream(id)).map((task) => ({ type: "task.skipped", task, because: id }));

/** Two failures may doom the same task; it is skipped, or cancelled, once. */
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

/** Landing goes on without those who have left it by another door. */
export function leavingPhase(state: RunState, gone: readonly Member[]): readonly Fact[] {
  const { phase, requeue } = leave(state.landing.phase, gone);
  return phase === state.landing.phase
    ? []
    : [{ type: "landing.turned", ...state.landing, phase, requeue: requeue.map((m) => m.task) }];
}

/** The tasks whose candidate is being built, gated or moved to right now. */
export function runningLandMembers(state: RunState): ReadonlySet<TaskId> {
  if (state.count.land === 0) return new Set();
  const members: Member[] = [];
  for (const { job } of state.running.values()) if (job.kind === "land") members.push(...job.members);
  return new Set(members.map((m) => m.task));
}

/** The next who is asked: the task above, or a person. */
export function passedUp(state: RunState, { id, to }: Question): Fact & { readonly type: "question.passed" } {
  const asked = to === "person" ? undefined : taskOf(state, to);
  const above = asked?.spec.spawn ? parentId(asked.id)! : "person";
  return { type: "question.passed", question: id, to: above };
}

/** The turn of the task that was asked is over: nobody needs its answer any more. */
export function stopAnswering(state: RunState, { to }: Question): readonly Fact[] {
  const job = to === "person" ? undefined : runningJobOf(state, taskOf(state, to));
  return job ? [{ type: "job.ended", job, how: "aborted" }] : [];
}
