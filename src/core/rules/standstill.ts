/** Tells whether the run stands still because everything that could go on waits for accounts, and until when. */

import { isProposed, LANE, type RunState, retryTask, taskOf } from "../log/state.ts";
import type { Task, TaskId } from "../task.ts";
import { isForLanding, isPaid } from "./budget.ts";
import { nextCheckAt } from "./check-time.ts";
import { isOver } from "./finish.ts";
import { accountsOf, nextAccount, parkedAccounts, refusedAccounts } from "./governor.ts";
import type { Policy } from "./policy.ts";

/** `until`: when the first of the accounts wakes; undefined if keys were refused, so that only a person can help. */
export type Standstill = { readonly accounts: readonly string[]; readonly until?: number };

/** Every job that runs or could start waits for accounts that are parked or refused. */
export function isParked(state: RunState, policy: Policy): Standstill | undefined {
  const parked = parkedAccounts(state);
  const accounts = [...parked, ...refusedAccounts(state)].map(({ account }) => account);
  if (accounts.length === 0 || isElsewhere(state, policy)) return undefined;
  const waiting = [...waitingJobs(state)];
  const waits = ({ kind, task }: Wanted) => nextAccount(state, accountsOf(policy, kind, task.spec));
  const waited = waiting.map(waits);
  if (waited.length === 0 || waited.some(({ is }) => is === "free")) return undefined;
  const times = waited.flatMap((next) =>
    next.is === "parked" && next.until !== undefined ? next.until : [],
  );
  return times.length === 0 ? { accounts } : { accounts, until: Math.min(...times) };
}

/** The run waits for a person, a landing, a check or its end, not for accounts. */
function isElsewhere(state: RunState, policy: Policy): boolean {
  const { count, landing, dag, train } = state;
  if (!state.request || state.closed || state.cancelling !== undefined) return true;
  if (state.paused || isProposed(state) || isOver(state)) return true;
  if (count.land + count.check > 0 || landing.phase.is !== "open" || train.length > 0) return true;
  return dag.peek(LANE.land) !== undefined || nextCheckAt(state, policy) !== undefined;
}

type Wanted = { readonly kind: "plan" | "work"; readonly task: Task };

/** All paid jobs that are running or could start, now or after a wait of their own. */
function* waitingJobs(state: RunState): Generator<Wanted, void> {
  for (const { job } of state.running.values())
    if (isPaid(job)) yield { kind: job.kind, task: taskOf(state, job.task) };
  for (const kind of ["plan", "work"] as const)
    for (const id of state.dag.ready(LANE[kind])) {
      const task = taskOf(state, id as TaskId);
      if (!state.spent.exhausted || isForLanding(task)) yield { kind, task };
    }
  for (const key of state.deadlines.due(Number.POSITIVE_INFINITY)) {
    const id = retryTask(key);
    if (id === undefined) continue;
    const task = taskOf(state, id);
    const plans = task.state.is === "delegated" || task.spec.shape === "plan";
    yield { kind: plans ? "plan" : "work", task };
  }
}
