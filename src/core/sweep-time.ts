/** When must the target be looked at next? */
import { isSpent } from "./budget.ts";
import { isDrained, isOver, wantsFinalCheck } from "./finish.ts";
import { nextAccount } from "./governor.ts";
import { backoffMs, type Policy } from "./policy.ts";
import { sweepDelayMs } from "./repair.ts";
import type { RunState } from "./state.ts";

/** Undefined if there is no reason to. */
export function sweepAt(state: RunState, policy: Policy): number | undefined {
  const { target, repair, cancelling } = state;
  const { checkedAt, checkErrors, greensInARow } = target;
  if (cancelling !== undefined) return undefined;
  if (checkErrors > 0) {
    const few = checkErrors < policy.sweep.maxErrorsInARow;
    return checkedAt + (few ? backoffMs(policy.retry, checkErrors, "check") : policy.sweep.greenMs);
  }
  if (isUrgent(state, policy)) return checkedAt;
  const green = target.health === "green";
  // Nothing can be mended while nobody may be started: looking again would only burn the gate.
  const isIdle = state.paused || nextAccount(state, policy.accounts.work).is !== "free";
  if (isIdle && target.checkedTip === target.tip) return undefined;
  const canChange =
    target.checkedTip !== target.tip || (!green && !repair.givenUp && !isSpent(state, policy));
  return canChange ? checkedAt + sweepDelayMs({ green, greensInARow }, policy.sweep) : undefined;
}

/** Somebody waits for the answer. */
function isUrgent(state: RunState, policy: Policy): boolean {
  const { target, landing } = state;
  if (target.health === "unknown" || target.health === "suspect") return true;
  if (landing.phase.is === "base" || target.baseMoved) return true;
  const news = target.checkedTip !== target.tip;
  // What a lost landing did is found out by the next one, and at the end, when there is none, by a look.
  const ending = state.count.land === 0 && (isOver(state) || isDrained(state, policy));
  return (
    (news && target.health === "red") || (ending && (news || target.unsure) && wantsFinalCheck(state, policy))
  );
}
