/** May a model be called now, and on which account? The rules that every call of a run goes by, as pure questions. */

import type { Failure } from "../failure.ts";
import { type JobId, taskOfJob } from "../job.ts";
import { type RunState, taskOf } from "../log/state.ts";
import { ROOT, type TaskId, type TaskSpec, topId } from "../task.ts";
import { NOTHING_USED, type Used } from "../used.ts";
import { type Amount, chargedOf, isForLanding, isPaid, overBudget, runLimit, usedInChain } from "./budget.ts";
import type { Accounts, Limit, Policy } from "./policy.ts";

/** What jobs have used, or set aside for calls that are under way, and the log does not know yet. */
export type Live = ReadonlyMap<JobId, Amount>;

type Call = {
  readonly job: JobId;
  readonly task: TaskId;
  /** What it may cost at most. A price that is not known is left out: then only tokens limit it. */
  readonly most: { readonly tokens: number; readonly microdollars?: number };
};

/** One of the budgets that a call must fit, and what the log has charged to it. */
export type CallBudget = {
  /** The same for all calls that share it. */
  readonly name: string;
  readonly limit: Limit;
  readonly charged: Amount;
  /** What is said once it is spent. */
  readonly failure: Failure;
};

/** Those of its task, its subtree and the run, as far as there are any. */
export function budgetsOf(state: RunState, { budget }: Policy, id: TaskId): readonly CallBudget[] {
  const task = taskOf(state, id);
  const top = topId(id);
  const one = (of: "run" | "subtree" | "task", name: string, limit: Limit, used: Used): CallBudget => ({
    ...{ name, limit, charged: chargedOf(used, budget) },
    failure: overBudget(of, state, id),
  });
  const isLanding = isForLanding(task);
  return [
    ...(top !== undefined && budget.task
      ? [one("task", `task ${id}`, budget.task, usedInChain(state, task))]
      : []),
    ...(top !== undefined && budget.subtree
      ? [one("subtree", `subtree ${top}`, budget.subtree, state.subtrees.get(top) ?? NOTHING_USED)]
      : []),
    one("run", isLanding ? LANDING : RUN, runLimit(budget, isLanding), state.spent),
  ];
}

/** Two limits of one sum: a part of the run's budget is kept for what must land. */
const [RUN, LANDING] = ["run", "run, landing included"];

/** The names of all budgets that what a task's jobs use is part of. */
export function budgetsWith(id: TaskId): readonly string[] {
  const top = topId(id);
  return [`task ${id}`, ...(top === undefined ? [] : [`subtree ${top}`]), RUN, LANDING];
}

/**
 * Why a call does not fit the budget of its task, its subtree or the run, if it does not. Jobs that are running and
 * not in `live` have their reserve. To know whether waiting could help, ask again without what is only set aside.
 */
export function mayCall(state: RunState, policy: Policy, live: Live, call: Call): Failure | undefined {
  return budgetsOf(state, policy, call.task).find(({ name, limit, charged }) => {
    const counts = (of: TaskId) => budgetsWith(of).includes(name);
    return !isWithin(limit, [charged, ...claimsOf(state, policy, live, { call, counts })], call.most);
  })?.failure;
}

/** What all other jobs have used or reserved, and what the caller's own job has used so far. */
function claimsOf(
  { running }: RunState,
  { budget }: Policy,
  live: Live,
  { call, counts }: { readonly call: Call; readonly counts: (of: TaskId) => boolean },
): readonly Amount[] {
  const reserve = { tokens: budget.reserveTokens, microdollars: budget.reserveMicrodollars };
  const used = [...live].flatMap(([id, amount]) => (counts(taskOfJob(id) ?? ROOT) ? [amount] : []));
  const reserved = [...running].flatMap(([id, { job }]) =>
    isPaid(job) && id !== call.job && !live.has(id) && counts(job.task) ? [reserve] : [],
  );
  return [...used, ...reserved];
}

function isWithin(
  { maxTokens, maxMicrodollars }: Limit,
  claims: readonly Amount[],
  most: Call["most"],
): boolean {
  const sum = (of: keyof Amount) => claims.reduce((all, claim) => all + claim[of], 0);
  if (maxTokens !== undefined && sum("tokens") + most.tokens > maxTokens) return false;
  if (maxMicrodollars === undefined || most.microdollars === undefined) return true;
  return sum("microdollars") + most.microdollars <= maxMicrodollars;
}

/** The accounts that a job may call, the preferred one first. Specialists are workers: planners have those of plans. */
export function accountsOf(
  { accounts }: Pick<Policy, "accounts">,
  kind: "plan" | "work",
  { agent }: Pick<TaskSpec, "agent">,
): Accounts {
  const own =
    kind === "work" && agent !== undefined && Object.hasOwn(accounts.byAgent, agent)
      ? accounts.byAgent[agent]
      : undefined;
  return own ?? accounts[kind];
}

/** `until`: when the first of them wakes; unknown only to who has not asked a run. */
export type NextAccount =
  | { readonly is: "free"; readonly account: string }
  | { readonly is: "parked"; readonly until: number | undefined }
  | { readonly is: "refused"; readonly failure: Failure };

/** The first that may be called; else when one of them wakes; else why only a person can help. */
export function nextAccount({ accounts }: Pick<RunState, "accounts">, chain: Accounts): NextAccount {
  const isFree = (name: string) => (accounts.get(name)?.is ?? "free") === "free";
  const account = chain.find(isFree);
  if (account !== undefined) return { is: "free", account };
  const known = chain.flatMap((name) => accounts.get(name) ?? []);
  const parked = known.filter((one) => one.is === "parked");
  if (parked.length > 0) return { is: "parked", until: Math.min(...parked.map(({ until }) => until)) };
  const refused = known.find((one) => one.is === "refused")!;
  return { is: "refused", failure: refused.failure };
}

type Parked = {
  readonly account: string;
  readonly until: number;
  readonly times: number;
  readonly failure: Failure;
};

/** The accounts that have no more to give, the one that wakes first at the front. */
export const parkedAccounts = ({ accounts }: RunState): readonly Parked[] =>
  [...accounts]
    .flatMap(([account, one]) =>
      one.is === "parked" ? [{ account, until: one.until, times: one.times, failure: one.failure }] : [],
    )
    .sort((a, b) => a.until - b.until);

type Refused = { readonly account: string; readonly failure: Failure };

/** The accounts whose key was refused: only a person can change that. */
export const refusedAccounts = ({ accounts }: RunState): readonly Refused[] =>
  [...accounts].flatMap(([account, one]) =>
    one.is === "refused" ? [{ account, failure: one.failure }] : [],
  );
