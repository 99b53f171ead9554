/** Decides what is due now: jobs to start, planners to settle, the run to close. No other code chooses what is next. */

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

/** `facts` hold now; ask again until there are none. Then nothing changes before `deadline` unless an input arrives. */
type Due = { readonly facts: readonly Fact[]; readonly deadline: number | undefined };

export function due(state: RunState, policy: Policy, now: number): Due {
  if (!state.request || state.closed) return { facts: [], deadline: undefined };
  // The run stands still; jobs that were running before may still answer or expire.
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

/**
 * True if the job needs a machine of the fleet. A landing or a check needs one for its gate, unless no gate will run.
 */
function needsMachine(state: RunState, job: Job): boolean {
  if (job.kind === "plan" || job.kind === "work") return true;
  return !isUngated(state) && !(job.kind === "land" && job.moves !== undefined);
}

/** A lease or a wait that is already over is due at once; all other times are computed by every call. */
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

/** At most one per call: the next one is decided once this one has started. */
function landJobs(state: RunState, policy: Policy, now: number): readonly Job[] {
  if (now < state.landing.retryAt || state.cancelling !== undefined || !mayLand(state, policy)) return [];
  const job = nextLanding(state, policy);
  return job ? [job] : [];
}

/**
 * True if candidates may land now. The target's health and the gate's probe must be known; on a red target, `headOf`
 * chooses which tasks may land. A red target must be checked at its present tip, or a failure that was healed could
 * come back unseen. If the target cannot be checked, a green candidate is proof enough.
 */
function mayLand(state: RunState, policy: Policy): boolean {
  const { target } = state;
  if (wantsProbe(state, policy)) return false;
  if (target.health === "green" || isKnownRed(state)) return true;
  return target.checkErrors >= policy.sweep.maxErrorsInARow;
}
