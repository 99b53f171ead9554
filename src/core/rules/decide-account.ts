/** Decides what follows when an account is rate limited or its key refused: jobs wait for it, and no task fails. */

import { type Failure, isAccounts } from "../failure.ts";
import { type Job, type JobId, type Outcome, taskOfJob } from "../job.ts";
import type { Fact } from "../log/event.ts";
import { type Account, type RunState, runTime, taskOf } from "../log/state.ts";
import { isPaid } from "./budget.ts";
import type { Now } from "./consequences.ts";
import { accountsOf, nextAccount, refusedAccounts } from "./governor.ts";
import { type Accounts, backoffMs } from "./policy.ts";

/** `ending`: the job whose failure reported this; its lease is over. */
type Trouble = { readonly account: string; readonly failure: Failure; readonly ending?: JobId };

export function accountTroubled(now: Now, { account, failure, ending }: Trouble): readonly Fact[] {
  const { state, at } = now;
  const before = state.accounts.get(account);
  if (before?.is === "refused" || !isAccounts(failure)) return [];
  const extendedFor = (after: Account) => extended(now, new Map(state.accounts).set(account, after), ending);
  if (failure.kind === "authentication") {
    const after = { is: "refused", since: at, failure } as const;
    return [{ type: "account.refused", account, failure }, ...extendedFor(after)];
  }
  const until = untilOf(now, account, failure);
  if (until === undefined) return [];
  const after = { is: "parked", times: 1, since: at, until, failure } as const;
  return [{ type: "account.parked", account, until, failure }, ...extendedFor(after)];
}

/** What a job's answer shows about the accounts that it may have called. */
export function accountsAfter(now: Now, id: JobId, outcome: Outcome): readonly Fact[] {
  const chain = chainOf(now, id);
  if (outcome.is !== "failed") return chain ? worked(now.state, chain) : [];
  const account = outcome.failure.account ?? chain?.[0];
  return account === undefined ? [] : accountTroubled(now, { account, failure: outcome.failure, ending: id });
}

/**
 * When a task may be retried after an account failed. Undefined: as soon as one of the task's accounts is free. If the
 * job started although the failure was known, or if the account is not one of the task's, the state of the task's
 * accounts is no guide: then the time when that account wakes. "unknown" if only a person can help, which counts as
 * unreachable so that the retries end.
 */
export function notBefore(
  now: Now,
  { id, failure, facts }: { readonly id: JobId; readonly failure: Failure; readonly facts: readonly Fact[] },
): number | "unknown" | undefined {
  const { state } = now;
  const chain = chainOf(now, id);
  const name = failure.account ?? chain?.[0];
  if (chain === undefined || name === undefined) return undefined;
  const known = state.accounts.get(name);
  const { startedAt } = taskOf(state, taskOfJob(id)!);
  const wasKnown = known !== undefined && known.is !== "free" && startedAt >= known.since;
  if (chain.includes(name) && !wasKnown) return undefined;
  if (failure.kind === "authentication") return "unknown";
  const parked = facts.find((fact) => fact.type === "account.parked" && fact.account === name);
  return parked?.type === "account.parked" ? parked.until : known?.is === "parked" ? known.until : "unknown";
}

/** `resume`: a person has fixed the keys. Rate limits end by themselves. */
export const accountsSeenTo = (state: RunState): readonly Fact[] =>
  refusedAccounts(state).map(({ account }) => ({ type: "account.woken", account }));

/** An account that has answered starts again with the shortest wait. */
export const accountWorks = ({ accounts }: RunState, account: string): readonly Fact[] =>
  accounts.get(account)?.is === "free" ? [{ type: "account.worked", account }] : [];

/** A job does not say which account it called: the first one that can be called is assumed. */
function worked(state: RunState, chain: Accounts): readonly Fact[] {
  const next = nextAccount(state, chain);
  return next.is === "free" && state.accounts.has(next.account)
    ? [{ type: "account.worked", account: next.account }]
    : [];
}

function chainOf({ state, policy }: Now, id: JobId): Accounts | undefined {
  const task = taskOfJob(id);
  if (task === undefined) return undefined;
  return accountsOf(policy, id.startsWith("plan:") ? "plan" : "work", taskOf(state, task).spec);
}

/**
 * A reset that was named by the machine's clock comes earlier or later by the jump; the leases of waiting jobs are
 * adjusted.
 */
export function clockJumped(now: Now, ms: number): readonly Fact[] {
  const { state, at, policy } = now;
  const accounts = new Map(state.accounts);
  const facts: Fact[] = [{ type: "clock.jumped", ms }];
  const jumped = { aheadMs: state.aheadMs + ms };
  for (const [account, one] of state.accounts) {
    if (one.is !== "parked" || one.failure.until === undefined || one.failure.waitMs !== undefined) continue;
    const named = runTime(jumped, one.failure.until);
    const until = Math.min(Math.max(named, at), at + policy.quota.maxUntilMs);
    // A longer wait has another cause (backoff), and setting the clock does not shorten it.
    const isForThat = runTime(state, one.failure.until) === one.until;
    if (until === one.until || (until < one.until && !isForThat)) continue;
    accounts.set(account, { ...one, until });
    facts.push({ type: "account.parked", account, until, failure: one.failure });
  }
  return [...facts, ...extended(now, accounts)];
}

/**
 * Until when the account is not called; undefined if a longer time is known already. The account's own word is believed
 * within limits. An account that is limited again right after it was woken waits longer each time, whatever it says.
 */
function untilOf(
  { state, at, policy: { quota } }: Now,
  account: string,
  failure: Failure,
): number | undefined {
  const before = state.accounts.get(account);
  const until = overAt(state, failure, at);
  const isSaid = until !== undefined && Number.isFinite(until) && until > at;
  const latest = at + quota.maxUntilMs;
  if (before?.is === "parked")
    return isSaid && Math.min(until, latest) > before.until ? Math.min(until, latest) : undefined;
  const times = before?.is === "free" ? before.times + 1 : 1;
  if (!isSaid) return Math.min(at + backoffMs(quota, times, account), latest);
  const least = times > 1 ? at + backoffMs(quota, times - 1, account) : at;
  return Math.min(Math.max(until, least), latest);
}

/** When the limit ends in the run's own time, if the account said so. */
const overAt = (state: RunState, { until, waitMs }: Failure, at: number): number | undefined =>
  until === undefined && waitMs === undefined
    ? undefined
    : Math.min(runTime(state, until ?? FAR), at + (waitMs ?? FAR));
const FAR = Number.POSITIVE_INFINITY;

/** Extends the leases of jobs that can only wait, by the time that they wait. */
function extended(now: Now, accounts: RunState["accounts"], ending?: JobId): readonly Fact[] {
  const facts: Fact[] = [];
  for (const [job, running] of now.state.running) {
    const wakes = job === ending ? undefined : wakesAt(now, accounts, running.job);
    const from = Math.max(now.at, running.parkedUntil ?? 0);
    const parkedUntil = Math.max(now.at, wakes ?? 0);
    if (wakes !== undefined && parkedUntil !== from)
      facts.push({ type: "job.extended", job, until: running.until + parkedUntil - from, parkedUntil });
  }
  return facts;
}

function wakesAt({ state, policy }: Now, accounts: RunState["accounts"], job: Job): number | undefined {
  if (!isPaid(job)) return undefined;
  const next = nextAccount({ accounts }, accountsOf(policy, job.kind, taskOf(state, job.task).spec));
  return next.is === "parked" ? next.until : undefined;
}
