/** Who lands next? By priority, then age, as many as belong into one candidate. */

import type { Member } from "../job.ts";
import { isKnownRed, LANE, landsOnRed, type RunState, taskOf } from "../log/state.ts";
import type { TaskId } from "../task.ts";
import { bestBatch, safeBatch } from "./batch-size.ts";
import type { Policy } from "./policy.ts";

/**
 * Which tasks probably follow the candidate whose gate is running: none, unless it is the head of the queue. With more
 * gates than one they are gated already.
 */
export const membersAfter = (state: RunState, policy: Policy): readonly Member[] =>
  state.landing.phase.is === "open" && policy.landing.gates === 1 && !isKnownRed(state)
    ? headOf(state, policy)
    : [];

/** On a red target a fix alone; once repair was given up, anyone, one by one. `freeGates`: this one's included. */
export function headOf(state: RunState, policy: Policy, freeGates = 1): readonly Member[] {
  const red = isKnownRed(state);
  const isSingle = red || policy.landing.strategy !== "merge-commit";
  const max = isSingle
    ? 1
    : Math.min(bestBatch(state.odds, policy.landing.maxBatch), shareOf(state, policy, freeGates));
  const members: Member[] = [];
  for (const id of state.dag.ready(LANE.land)) {
    const task = taskOf(state, id as TaskId);
    if (members.length >= max || (red && !landsOnRed(state, task))) break;
    // Its last round: else those that were only beside it would fail with it.
    const isAlone = (state.undecided.get(task.id) ?? 0) >= policy.landing.maxUndecided - 1;
    if (isAlone && members.length > 0) break;
    if (isAlone) return task.state.is === "landing" ? [{ task: task.id, attempt: task.state.attempt }] : [];
    if (task.state.is === "landing") members.push({ task: task.id, attempt: task.state.attempt });
  }
  return members;
}

/**
 * With several gates, those that are ready are shared out among the free ones, unless a bad one is improbable: a
 * candidate of several that is red keeps all others waiting for its bisection.
 */
function shareOf({ dag, odds }: RunState, { landing: { gates } }: Policy, freeGates: number): number {
  if (gates === 1) return Number.POSITIVE_INFINITY;
  return Math.max(safeBatch(odds), Math.ceil(dag.readyCount(LANE.land) / freeGates));
}
