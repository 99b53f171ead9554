/** What follows when an account has no more to give, or its key is refused? Whoever shares it waits; nobody is blamed. */
import { isPaid } from "./budget.ts";
import type { Fact } from "./event.ts";
import { type Failure, isAccounts } from "./failure.ts";
import { accountsOf, nextAccount, refusedAccounts } from "./governor.ts";
import { type Job, type JobId, type Outcome, taskOfJob } from "./job.ts";
import { type Accounts, backoffMs, type Rules } from "./policy.ts";
import { type Account, type RunState, runTime, taskOf } from "./state.ts";

/** `ending`: the job that found out by coming to nothing; it has no lease any more. */
export function accountTroubled(
  state: RunState,
  {
    account,
    failure,
    ending,
  }: { readonly account: string; readonly failure: Failure; readonly ending?: JobId },
  rules: Rules,
): readonly Fact[] {
  const before = state.accounts.get(account);
  if (before?.is === "refused" || !isAccounts(failure)) return [];
  if (failure.kind === "authentication") {
    const after = { is: "refused", since: rules.at, failure } as const;
    return [
      { type: "account.refused", account, failure },
      ...extended(state, withAccount(state, account, after), rules, ending),
    ];
  }
  const until = untilOf(state, account, failure, rules);
  if (until === undefined) return [];
  const after = { is: "parked", times: 1, since: rules.at, until, failure } as const;
  return [
    { type: "account.parked", account, until, failure },
    ...extended(state, withAccount(state, account, after), rules, ending),
  ];
}

/** What a job's answer says about the accounts that it may have called. */
export function accountsAfter(state: RunState, id: JobId, outcome: Outcome, rules: Rules): readonly Fact[] {
  const chain = chainOf(state, id, rules);
  if (outcome.is !== "failed") return chain ? worked(state, chain) : [];
  const account = outcome.failure.account ?? chain?.[0];
  return account === undefined
    ? []
    : accountTroubled(state, { account, failure: outcome.failure, ending: id }, rules);
}

/**
 * When may a task be tried again that met an account's trouble? As soon as one of its accounts is free. But if it was
 * started in spite of that trouble, or the account is none of its own, its accounts are no guide: then not before the
 * account wakes; or, where only a person can help, as if nobody could be reached, so that it ends.
 */
export function notBefore(
  state: RunState,
  id: JobId,
  { account, kind }: Failure,
  { facts, rules }: { readonly facts: readonly Fact[]; readonly rules: Rules },
): number | "unknown" | undefined {
  const chain = chainOf(state, id, rules);
  const name = account ?? chain?.[0];
  if (chain === undefined || name === undefined) return undefined;
  const known = state.accounts.get(name);
  const wasKnown = known !== undefined && known.is !== "free" && startedAt(state, id) >= known.since;
  if (chain.includes(name) && !wasKnown) return undefined;
  if (kind === "authentication") return "unknown";
  const parked = facts.find((fact) => fact.type === "account.parked" && fact.account === name);
  return parked?.type === "account.parked" ? parked.until : known?.is === "parked" ? known.until : "unknown";
}

const startedAt = (state: RunState, id: JobId): number => taskOf(state, taskOfJob(id)!).startedAt;

/** `resume`: a person has seen to the keys. Quotas come back by themselves. */
export const accountsSeenTo = (state: RunState): readonly Fact[] =>
  refusedAccounts(state).map(({ account }) => ({ type: "account.woken", account }));

/** What has answered is not refused for longer each time any more. */
export const accountWorks = ({ accounts }: RunState, account: string): readonly Fact[] =>
  accounts.get(account)?.is === "free" ? [{ type: "account.worked", account }] : [];

/** Which account a job has called is not said; it was the first that could be, as far as is known. */
function worked(state: RunState, chain: Accounts): readonly Fact[] {
  const next = nextAccount(state, chain);
  return next.is === "free" && state.accounts.has(next.account)
    ? [{ type: "account.worked", account: next.account }]
    : [];
}

function chainOf(state: RunState, id: JobId, { policy }: Rules): Accounts | undefined {
  const task = taskOfJob(id);
  if (task === undefined) return undefined;
  return accountsOf(policy, id.startsWith("plan:") ? "plan" : "work", taskOf(state, task).spec);
}

/** A reset that was named by the machine's clock comes as much earlier or later; who waits for it gets that time. */
export function clockJumped(state: RunState, ms: number, rules: Rules): readonly Fact[] {
  const { at, policy } = rules;
  const accounts = new Map(state.accounts);
  const facts: Fact[] = [{ type: "clock.jumped", ms }];
  const jumped = { aheadMs: state.aheadMs + ms };
  for (const [account, one] of state.accounts) {
    if (one.is !== "parked" || one.failure.until === undefined || one.failure.waitMs !== undefined) continue;
    const named = runTime(jumped, one.failure.until);
    const until = Math.min(Math.max(named, at), at + policy.quota.maxUntilMs);
    // A longer park has another cause (backoff): a clock that was set does not shorten it.
    const isForThat = runTime(state, one.failure.until) === one.until;
    if (until === one.until || (until < one.until && !isForThat)) continue;
    accounts.set(account, { ...one, until });
    facts.push({ type: "account.parked", account, until, failure: one.failure });
  }
  return [...facts, ...extended(state, { accounts }, rules, undefined)];
}

/**
 * Until when it is left alone; undefined: what is known already is as long. What it says is believed within limits. Who
 * has just been woken and has nothing again is asked less and less often, whatever it says.
 */
function untilOf(
  state: RunState,
  account: string,
  failure: Failure,
  { at, policy: { quota } }: Rules,
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

/** When it is over by the run's own time, if that was said. */
const overAt = (state: RunState, { until, waitMs }: Failure, at: number): number | undefined =>
  until === undefined && waitMs === undefined
    ? undefined
    : Math.min(runTime(state, until ?? FAR), at + (waitMs ?? FAR));
const FAR = Number.POSITIVE_INFINITY;

const withAccount = ({ accounts }: RunState, name: string, account: Account) => ({
  accounts: new Map(accounts).set(name, account),
});

/** A job that can only wait gets that time: its lease runs out as much later as it is held up. */
function extended(
  state: RunState,
  after: Pick<RunState, "accounts">,
  { at, policy }: Rules,
  ending: JobId | undefined,
): readonly Fact[] {
  const facts: Fact[] = [];
  for (const [job, running] of state.running) {
    const wakes = job === ending ? undefined : wakesAt(state, after, running.job, policy);
    const from = Math.max(at, running.parkedUntil ?? 0);
    const parkedUntil = Math.max(at, wakes ?? 0);
    if (wakes !== undefined && parkedUntil !== from)
      facts.push({ type: "job.extended", job, until: running.until + parkedUntil - from, parkedUntil });
  }
  return facts;
}

function wakesAt(
  state: RunState,
  after: Pick<RunState, "accounts">,
  job: Job,
  policy: Rules["policy"],
): number | undefined {
  if (!isPaid(job)) return undefined;
  const next = nextAccount(after, accountsOf(policy, job.kind, taskOf(state, job.task).spec));
  return next.is === "parked" ? next.until : undefined;
}
