/** Folds events into a run's state; no other code changes that state. */

import { isOver } from "../rules/finish.ts";
import { ROOT } from "../task.ts";
import { unreachable } from "../unreachable.ts";
import type { Evolvers, StateDraft } from "./draft.ts";
import { type Event, react } from "./event.ts";
import { jobEvents } from "./evolve-job.ts";
import { addTask, planEvents } from "./evolve-plan.ts";
import { moveTip, targetEvents } from "./evolve-target.ts";
import { subtaskEvents, taskEvents } from "./evolve-task.ts";
import { standAside } from "./settle.ts";
import { accountKey, emptyState, type RunState, runningJobOf } from "./state.ts";

export function replay(events: Iterable<Event>): RunState {
  const state = emptyState();
  for (const event of events) evolve(state, event);
  return state;
}

/** Changes `state` in place: only one writer folds a log, and all other code sees `RunState` as readonly. */
export function evolve(state: RunState, event: Event): RunState {
  const s = state as StateDraft;
  const wasOver = isAtEnd(s);
  if (!isEventType(event.type)) unreachable(event.type);
  react(EVOLVERS, s, event);
  // The last check was made before the last task ended: look once more where the target is.
  if (!wasOver && s.cancelling === undefined && isAtEnd(s))
    if (event.at > s.target.checkedAt && s.tips.size > 1) s.target.unsure = true;
  return state;
}

const isAtEnd = (s: StateDraft): boolean => s.request !== undefined && isOver(s);

export const isEventType = (type: string): type is Event["type"] => Object.hasOwn(EVOLVERS, type);

const runEvents = {
  "run.opened"(s, { request, spec, at }) {
    s.request = request;
    s.openedAt = at;
    s.onlyAnswers = spec.delivers === "report";
    s.setup.since = at;
    for (const name of request.flaky ?? []) s.flaky.set(name, 0);
    moveTip(s, request.base);
    addTask(s, { id: ROOT, spec, rank: spec.priority });
  },
  "run.paused"(s) {
    s.paused = true;
  },
  "run.resumed"(s) {
    s.paused = false;
  },
  "run.cancel-requested"(s, { reason }) {
    s.cancelling = reason;
  },
  "run.closed"(s, { how, left }) {
    s.closed = { how, left };
  },
  "command.refused"() {}, // For people to read.
  "checkout.changed"() {}, // For people to read.
  "clock.jumped"(s, { ms }) {
    s.wereAheadMs = [...new Set([s.aheadMs, ...s.wereAheadMs])].slice(0, MAX_SETTINGS);
    s.aheadMs += ms;
  },
  "budget.exhausted"(s, { all }) {
    s.spent.exhausted = true;
    if (all) s.spent.landingSpent = true;
    for (const task of s.tasks.values())
      if (task.state.is !== "landing" && runningJobOf(s, task) === undefined) standAside(s, task);
  },
} satisfies Partial<Evolvers>;

/** How many earlier settings of the machine's clock are remembered. */
const MAX_SETTINGS = 10;

const accountEvents = {
  /**
   * A second report while the account is parked is about the same rate limit, perhaps a longer one, so it is not
   * counted.
   */
  "account.parked"(s, { account, until, failure, at }) {
    const before = s.accounts.get(account);
    const times = timesOf(before) + (before?.is === "parked" ? 0 : 1);
    const since = before?.is === "parked" ? before.since : at;
    s.accounts.set(account, { is: "parked", times, since, until, failure });
    s.deadlines.set(accountKey(account), until);
  },
  "account.refused"(s, { account, failure, at }) {
    s.accounts.set(account, { is: "refused", since: at, failure });
    s.deadlines.delete(accountKey(account));
  },
  "account.woken"(s, { account }) {
    s.accounts.set(account, { is: "free", times: timesOf(s.accounts.get(account)) });
    s.deadlines.delete(accountKey(account));
  },
  "account.worked"(s, { account }) {
    if (s.accounts.get(account)?.is === "free") s.accounts.delete(account);
  },
} satisfies Partial<Evolvers>;

const timesOf = (account: ReturnType<StateDraft["accounts"]["get"]>): number =>
  account === undefined || account.is === "refused" ? 0 : account.times;

const EVOLVERS: Evolvers = {
  ...runEvents,
  ...accountEvents,
  ...jobEvents,
  ...planEvents,
  ...taskEvents,
  ...subtaskEvents,
  ...targetEvents,
};
