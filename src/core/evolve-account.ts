/** What changes when an account has no more to give, or can be called again? */
import type { Draft } from "./draft.ts";
import type { EventOf } from "./event.ts";
import { accountKey } from "./state.ts";

/** Parked again while it is parked is the same trouble, only longer. */
export function accountParked(s: Draft, { account, until, failure, at }: EventOf<"account.parked">): void {
  const before = s.accounts.get(account);
  const times = timesOf(before) + (before?.is === "parked" ? 0 : 1);
  const since = before?.is === "parked" ? before.since : at;
  s.accounts.set(account, { is: "parked", times, since, until, failure });
  s.deadlines.set(accountKey(account), until);
}

export function accountRefused(s: Draft, { account, failure, at }: EventOf<"account.refused">): void {
  s.accounts.set(account, { is: "refused", since: at, failure });
  s.deadlines.delete(accountKey(account));
}

export function accountWoken(s: Draft, { account }: EventOf<"account.woken">): void {
  s.accounts.set(account, { is: "free", times: timesOf(s.accounts.get(account)) });
  s.deadlines.delete(accountKey(account));
}

export function accountWorked(s: Draft, { account }: EventOf<"account.worked">): void {
  if (s.accounts.get(account)?.is === "free") s.accounts.delete(account);
}

const timesOf = (account: ReturnType<Draft["accounts"]["get"]>): number =>
  account === undefined || account.is === "refused" ? 0 : account.times;
