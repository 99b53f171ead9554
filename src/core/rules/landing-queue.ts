/** Chooses which tasks land next: by priority, then age, as many as fit into one candidate. */

import type { Member } from "../job.ts";
import { isKnownRed, LANE, landsOnRed, type RunState, taskOf } from "../log/state.ts";
import type { TaskId } from "../task.ts";
import { bestBatch, safeBatch } from "./batch-size.ts";
import type { Policy } from "./policy.ts";

/**
 * The tasks that will probably form the next candidate, to prepare it while a gate runs. None with several gates,
 * because those gate it already.
 */
export const membersAfter = (state: RunState, policy: Policy): readonly Member[] =>
  state.landing.phase.is === "open" && policy.landing.gates === 1 && !isKnownRed(state)
    ? headOf(state, policy)
    : [];

/**
 * On a red target one fix alone; once repair was given up, any task, one at a time. `freeGates` includes the gate of
 * this candidate.
 */
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
    // In its last round a task is gated alone: other members would fail with it.
    const isAlone = (state.undecided.get(task.id) ?? 0) >= policy.landing.maxUndecided - 1;
    if (isAlone && members.length > 0) break;
    if (isAlone) return task.state.is === "landing" ? [{ task: task.id, attempt: task.state.attempt }] : [];
    if (task.state.is === "landing") members.push({ task: task.id, attempt: task.state.attempt });
  }
  return members;
}

/**
 * With several gates, the ready tasks are shared out among the free gates, unless a bad task is improbable: a red
 * candidate of several tasks keeps all others waiting for its bisection.
 */
function shareOf({ dag, odds }: RunState, { landing: { gates } }: Policy, freeGates: number): number {
  if (gates === 1) return Number.POSITIVE_INFINITY;
  return Math.max(safeBatch(odds), Math.ceil(dag.readyCount(LANE.land) / freeGates));
}
