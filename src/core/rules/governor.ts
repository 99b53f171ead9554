/** Decides whether a model may be called now, and on which account: pure rules that every call of a run obeys. */

import type { Failure } from "../failure.ts";
import { type JobId, taskOfJob } from "../job.ts";
import { type RunState, taskOf } from "../log/state.ts";
import { ROOT, type TaskId, type TaskSpec, topId } from "../task.ts";
import { NOTHING_USED, type Used } from "../used.ts";
import { type Amount, chargedOf, isForLanding, isPaid, overBudget, runLimit, usedInChain } from "./budget.ts";
import type { Accounts, Limit, Policy } from "./policy.ts";

/** What running jobs have used, or reserved for calls under way, that the log does not know yet. */
export type Live = ReadonlyMap<JobId, Amount>;

type Call = {
  readonly job: JobId;
  readonly task: TaskId;
  /** What the call may cost at most. An unknown price is left out: then only tokens limit the call. */
  readonly most: { readonly tokens: number; readonly microdollars?: number };
};

/** One of the budgets that a call must fit into, with what the log has charged to it. */
export type CallBudget = {
  /** The same for all calls that share the budget. */
  readonly name: string;
  readonly limit: Limit;
  readonly charged: Amount;
  /** The failure once the budget is spent. */
  readonly failure: Failure;
};

/** The budgets of the task, of its subtree and of the run, as far as they are set. */
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

/** Two limits of the same sum: a part of the run's budget is reserved for landing finished work. */
const [RUN, LANDING] = ["run", "run, landing included"];

/** The names of all budgets that the task's jobs count against. */
export function budgetsWith(id: TaskId): readonly string[] {
  const top = topId(id);
  return [`task ${id}`, ...(top === undefined ? [] : [`subtree ${top}`]), RUN, LANDING];
}

/**
 * Why a call does not fit the budget of its task, its subtree or the run; undefined if it fits. Running jobs that are
 * not in `live` count with their reserve. To find out whether waiting could help, ask again without what is only
 * reserved.
 */
export function mayCall(state: RunState, policy: Policy, live: Live, call: Call): Failure | undefined {
  return budgetsOf(state, policy, call.task).find(({ name, limit, charged }) => {
    const counts = (of: TaskId) => budgetsWith(of).includes(name);
    return !isWithin(limit, [charged, ...claimsOf(state, policy, live, { call, counts })], call.most);
  })?.failure;
}

/** What all other jobs have used or reserved, and what the calling job has used so far. */
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

/** The accounts that a job may call, the preferred one first. A specialist's own accounts count for work only. */
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

/** `until`: when the first of the accounts wakes; undefined if that is not known. */
export type NextAccount =
  | { readonly is: "free"; readonly account: string }
  | { readonly is: "parked"; readonly until: number | undefined }
  | { readonly is: "refused"; readonly failure: Failure };

/** The first account that may be called; else when one of them wakes; else why only a person can help. */
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

/** The accounts that are rate limited, the one that wakes first at the front. */
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
