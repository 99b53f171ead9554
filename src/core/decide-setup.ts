/** What follows where the gate or a workspace cannot be made ready, or the gate was probed? A person is asked, nobody is blamed. */
import { turned } from "./decide-landing.ts";
import type { Fact } from "./event.ts";
import { type Failure, failure } from "./failure.ts";
import type { Ended } from "./job.ts";
import { membersOf, OPEN } from "./landing.ts";
import { backoffMs, type Rules } from "./policy.ts";
import type { RunState } from "./state.ts";

/** At once if nothing was ever made ready in this run; else it may pass by itself, up to a limit. */
export function setupMet(
  { setup }: RunState,
  why: Failure,
  { policy }: Rules,
  isFirst = !setup.hasWorked,
): readonly Fact[] {
  if (why.kind !== "setup" || setup.failure) return [];
  const isOver = isFirst || setup.errors + 1 >= policy.sweep.maxErrorsInARow;
  return isOver ? [{ type: "setup.failed", failure: why }] : [];
}

/** When a planner or a worker that met it may be started again. */
export const setupWait = ({ setup }: RunState, { at, policy }: Rules): number =>
  at + backoffMs(policy.retry, setup.errors + 1, "setup");

/** `resume`: a person has seen to it. What a gate said while it could not run is held against no candidate. */
export function setupSeenTo(state: RunState, rules: Rules): readonly Fact[] {
  if (!state.setup.failure) return [];
  const { phase } = state.landing;
  const isVoid = phase.is !== "open" && state.count.land === 0;
  const turn = { phase: OPEN, requeue: membersOf(phase), refuse: [] };
  return [{ type: "setup.retried" }, ...(isVoid ? turned(state, { turn, conflicts: [] }, rules) : [])];
}

/** A probe that fails for reasons of the machine is made again, and given up in the end. */
export function decideProbe({ setup }: RunState, { outcome, free }: Ended, rules: Rules): readonly Fact[] {
  if (outcome.is === "probed") {
    const { probed } = outcome;
    const facts: readonly Fact[] = [{ type: "gate.probed", probed }];
    if (probed.is !== "unproven" || setup.failure) return facts;
    return [...facts, { type: "setup.failed", failure: probed.failure }];
  }
  if (free) return []; // Interrupted: it is due again at once.
  const why =
    outcome.is === "failed" ? outcome.failure : failure("repository", `a probe answered "${outcome.is}"`);
  const facts: readonly Fact[] = [{ type: "gate.unprobed", failure: why }];
  return setup.probeErrors + 1 < rules.policy.sweep.maxErrorsInARow ? facts : [...facts, notProbed(why)];
}

export const notProbed = ({ message }: Failure): Fact => ({
  type: "gate.probed",
  probed: { is: "not-probed", why: message },
});
