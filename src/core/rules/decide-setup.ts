/** Decides what follows when the gate or a workspace cannot be set up, or the gate was probed; no task fails for it. */

import { type Failure, failure } from "../failure.ts";
import type { Ended } from "../job.ts";
import type { Fact } from "../log/event.ts";
import type { Now } from "./consequences.ts";
import { turned } from "./decide-landing.ts";
import { membersOf, OPEN } from "./landing.ts";
import { backoffMs } from "./policy.ts";
import { isMoving } from "./train.ts";

/**
 * Stops the run at once if no workspace was ever ready in this run, or if an agent cannot be used; else after several
 * failures in a row, because a failure may pass by itself.
 */
export function setupMet(
  { state: { setup }, policy }: Now,
  why: Failure,
  isFirst = !setup.hasWorked,
): readonly Fact[] {
  if (why.kind !== "setup" || setup.failure) return [];
  const isOver = isFirst || why.agent !== undefined || setup.errors + 1 >= policy.sweep.maxErrorsInARow;
  return isOver ? [{ type: "setup.failed", failure: why }] : [];
}

/** When a planner or a worker may start again after its set-up failed. */
export const setupWait = ({ state, at, policy }: Now): number =>
  at + backoffMs(policy.retry, state.setup.errors + 1, "setup");

/** `resume`: a person has fixed the set-up. No candidate is refused for a gate that could not run. */
export function setupSeenTo(now: Now): readonly Fact[] {
  const { setup, landing } = now.state;
  if (!setup.failure) return [];
  const isVoid = landing.phase.is !== "open" && !isMoving(now.state);
  const turn = { phase: OPEN, requeue: membersOf(landing.phase), refuse: [] };
  return [{ type: "setup.retried" }, ...(isVoid ? turned(now, { turn, conflicts: [] }) : [])];
}

/** A probe that fails because of the machine is retried, up to a limit. */
export function decideProbe({ state, policy }: Now, { outcome, free }: Ended): readonly Fact[] {
  const { setup } = state;
  if (outcome.is === "probed") {
    const { probed } = outcome;
    const facts: readonly Fact[] = [{ type: "gate.probed", probed }];
    if (probed.is !== "unproven" || setup.failure) return facts;
    return [...facts, { type: "setup.failed", failure: probed.failure }];
  }
  if (free) return []; // Interrupted: the probe is due again at once.
  const why =
    outcome.is === "failed" ? outcome.failure : failure("repository", `a probe answered "${outcome.is}"`);
  const facts: readonly Fact[] = [{ type: "gate.unprobed", failure: why }];
  return setup.probeErrors + 1 < policy.sweep.maxErrorsInARow ? facts : [...facts, notProbed(why)];
}

export const notProbed = ({ message }: Failure): Fact => ({
  type: "gate.probed",
  probed: { is: "not-probed", why: message },
});
