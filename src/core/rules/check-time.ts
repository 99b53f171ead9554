/** Computes when the target must be checked next, and when the gate must be probed. */

import type { RunState } from "../log/state.ts";
import { isUnpaid } from "../log/target-health.ts";
import { isSpent } from "./budget.ts";
import { isEnding, wantsFinalCheck } from "./finish.ts";
import { nextAccount } from "./governor.ts";
import { backoffMs, type Policy, PROBE_FIRST_MS } from "./policy.ts";
import { checkDelayMs } from "./repair.ts";
import { wantsBase } from "./train.ts";

/** Undefined if there is no reason for a check. */
export function nextCheckAt(state: RunState, policy: Policy): number | undefined {
  const { target, repair, cancelling } = state;
  const { checkedAt, checkErrors, greensInARow } = target;
  if (cancelling !== undefined || state.onlyAnswers || isBaseAsked(state)) return undefined;
  if (checkErrors > 0) {
    const few = checkErrors < policy.sweep.maxErrorsInARow;
    return checkedAt + (few ? backoffMs(policy.retry, checkErrors, "check") : policy.sweep.greenMs);
  }
  if (isUrgent(state, policy)) return checkedAt;
  const green = target.health === "green";
  // Nothing is repaired while nothing may start, so another check would only cost a gate run.
  const isIdle =
    state.paused || nextAccount(state, policy.accounts.work).is !== "free" || isAllUnapproved(state);
  if (isIdle && target.checkedTip === target.tip) return undefined;
  const canChange =
    target.checkedTip !== target.tip || (!green && !repair.givenUp && !isSpent(state, policy));
  return canChange ? checkedAt + checkDelayMs({ green, greensInARow }, policy.sweep) : undefined;
}

/** Until when nothing starts because the base has not been checked yet: no money is spent where the gate cannot run. */
export function firstLookBy(state: RunState, policy: Policy): number | undefined {
  const { target, setup, onlyAnswers } = state;
  if (onlyAnswers) return undefined;
  const isInDoubt = (target.health === "suspect" || target.health === "unknown") && isUnpaid(state);
  const isKnown =
    (target.checkedTip !== undefined && !isInDoubt) || target.checkErrors >= policy.sweep.maxErrorsInARow;
  return isKnown || policy.baseFirstMs === undefined ? undefined : setup.since + policy.baseFirstMs;
}

/** Until when no worker starts because the gate has not been probed yet. Planners take their first turn meanwhile. */
export function firstProbeBy(state: RunState, policy: Policy): number | undefined {
  const isKnown = state.setup.probed !== undefined || !wantsProbe(state, policy);
  if (isKnown || policy.baseFirstMs === undefined) return undefined;
  return state.setup.since + Math.min(policy.baseFirstMs, PROBE_FIRST_MS);
}

/** A person is asked what to do about a base that fails. Meanwhile nothing starts, and nothing is checked. */
export const isBaseAsked = ({ redBase }: RunState): boolean => redBase?.choice === "ask";

/**
 * True while landings must wait for a probe of the gate. A gate without commands needs none. On a red target too few
 * tests pass for a probe: what repairs the target may land, and the gate is probed after that.
 */
export function wantsProbe({ setup, target, onlyAnswers }: RunState, { probe = false }: Policy): boolean {
  if (!probe || onlyAnswers) return false;
  if (setup.probed === undefined) return target.checkedTip === undefined || target.report.commands.length > 0;
  const isGreen = target.health === "green" && target.checkedTip === target.tip;
  return setup.isProbedEarly && isGreen && target.report.commands.length > 0;
}

/** When to probe the gate; undefined if that is done, or if the target's present health is not known. */
export function probeAt(state: RunState, policy: Policy): number | undefined {
  const { target, setup } = state;
  if (isBaseAsked(state)) return undefined;
  const isKnown = target.checkedTip === target.tip && (target.health === "green" || target.health === "red");
  if (!isKnown || !wantsProbe(state, policy) || isEnding(state, policy)) return undefined;
  const { probeErrors, probeEndedAt } = setup;
  return probeErrors === 0 ? target.checkedAt : probeEndedAt + backoffMs(policy.retry, probeErrors, "probe");
}

/** True if all fixes that are under way wait for a person. */
const isAllUnapproved = ({ repair, unapproved }: RunState): boolean =>
  repair.pending.size > 0 && [...repair.pending].every((id) => unapproved.has(id));

function isUrgent(state: RunState, policy: Policy): boolean {
  const { target, landing } = state;
  if (target.health === "unknown" || target.health === "suspect") return true;
  if (landing.phase.is === "base" || target.baseMoved || wantsBase(state, policy)) return true;
  const news = target.checkedTip !== target.tip;
  // What a lost landing did is found out by the next landing, or by a check at the end of the run.
  if (news && target.health === "red") return true;
  const canChange = news || target.unsure || target.health === "green";
  return canChange && isEnding(state, policy) && wantsFinalCheck(state, policy, Number.POSITIVE_INFINITY);
}
