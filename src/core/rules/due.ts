/** What should be so and is not? The only place that chooses what comes next: jobs to start, ends to declare. */

import type { Job } from "../job.ts";
import type { Fact } from "../log/event.ts";
import { isKnownRed, type RunState } from "../log/state.ts";
import { isUngated } from "../log/target-health.ts";
import { firstLookBy, firstProbeBy, isBaseAsked, nextCheckAt, probeAt, wantsProbe } from "./check-time.ts";
import { trainTurned } from "./decide-train.ts";
import { agentJobs } from "./dispatch.ts";
import { closeRun, settlePlanners } from "./finish.ts";
import type { Policy } from "./policy.ts";
import { nextLanding } from "./train.ts";

/** `facts` hold now, until there are none; then nothing changes before `deadline` unless something arrives. */
type Due = { readonly facts: readonly Fact[]; readonly deadline: number | undefined };

export function due(state: RunState, policy: Policy, now: number): Due {
  if (!state.request || state.closed) return { facts: [], deadline: undefined };
  // It stands still; what was running before may still answer, or not.
  if (state.setup.failure && state.cancelling === undefined)
    return { facts: [], deadline: leaseOver(state, now) };
  const turns = trainTurned({ state, policy, at: now });
  if (turns.length > 0) return { facts: turns, deadline: now };
  const ends = settlePlanners(state, policy);
  if (ends.length > 0) return { facts: ends, deadline: now };
  const closing = closeRun(state, policy, now);
  if (closing.length > 0) return { facts: closing, deadline: nextDeadline(state, policy, now) };

  const start = (job: Job): Fact => {
    const until = now + policy.leaseMs[job.kind];
    if (policy.offerMs === 0 || !needsMachine(state, job)) return { type: "job.started", job, until };
    return { type: "job.started", job, until: until + policy.offerMs, isOffered: true };
  };
  const facts = [
    ...checkJobs(state, policy, now).map(start),
    ...landJobs(state, policy, now).map(start),
    ...(now < (firstLookBy(state, policy) ?? now) || isBaseAsked(state)
      ? []
      : agentJobs(state, policy, start, { mayWork: now >= (firstProbeBy(state, policy) ?? now) })),
  ];
  return { facts, deadline: nextDeadline(state, policy, now) };
}

function nextDeadline(state: RunState, policy: Policy, now: number): number | undefined {
  const first = leaseOver(state, now);
  if (first === now) return now;
  const waits = [firstLookBy(state, policy), firstProbeBy(state, policy)];
  const looks = [nextCheckAt(state, policy), probeAt(state, policy), ...waits];
  const times = [first, state.landing.retryAt, ...looks];
  const ahead = times.filter((at) => at !== undefined && at > now) as number[];
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}

/** Of a fleet. A landing or a check needs one for its gate, where it has one to run. */
function needsMachine(state: RunState, job: Job): boolean {
  if (job.kind === "plan" || job.kind === "work") return true;
  return !isUngated(state) && !(job.kind === "land" && job.moves !== undefined);
}

/** A lease or a wait that is over already is due at once; the other times are looked at by every call. */
function leaseOver(state: RunState, now: number): number | undefined {
  const first = state.deadlines.next();
  return first === undefined ? undefined : Math.max(first, now);
}

function checkJobs(state: RunState, policy: Policy, now: number): readonly Job[] {
  if (state.count.check > 0 || state.cancelling !== undefined) return [];
  const turn = state.turns.check + 1;
  const isDue = (at: number | undefined) => at !== undefined && at <= now;
  if (isDue(nextCheckAt(state, policy))) return [{ kind: "check", turn }];
  return isDue(probeAt(state, policy)) ? [{ kind: "check", turn, probe: true }] : [];
}

/** One a call: what is due next is asked again once it has started. */
function landJobs(state: RunState, policy: Policy, now: number): readonly Job[] {
  if (now < state.landing.retryAt || state.cancelling !== undefined || !mayLand(state, policy)) return [];
  const job = nextLanding(state, policy);
  return job ? [job] : [];
}

/**
 * Nothing lands before the target is known, and whether its gate proves something; on a red one only what may, see
 * `headOf`. What a red target fails must be known as it stands, or a failure that was healed could come back unseen.
 * Where it cannot be checked, a candidate that is green is proof enough.
 */
function mayLand(state: RunState, policy: Policy): boolean {
  const { target } = state;
  if (wantsProbe(state, policy)) return false;
  if (target.health === "green" || isKnownRed(state)) return true;
  return target.checkErrors >= policy.sweep.maxErrorsInARow;
}
