/** Decides what follows when a gate's result is not enough: failures over leftovers, and rounds without a culprit. */
import { branchOf } from "../brief-land.ts";
import { isOwn } from "../gate.ts";
import type { Member } from "../job.ts";
import type { Fact } from "../log/event.ts";
import { type RunState, taskOf } from "../log/state.ts";
import { isFlaky } from "../log/target-health.ts";
import { failTask, type Now } from "./consequences.ts";
import { gateRed } from "./gate-red.ts";
import type { UsedRun } from "./landing.ts";

/**
 * A candidate that was red passes now on the same tree: its failures are flaky tests, except those that happened only
 * in a used workspace, where leftovers may be the cause.
 */
export function afterRedAndGreen(state: RunState): {
  readonly flaky: readonly string[];
  readonly facts: readonly Fact[];
} {
  const { phase } = state.landing;
  if (phase.is !== "again") return { flaky: [], facts: [] };
  const used = new Set(phase.used?.failures);
  const flaky = phase.failures.filter((name) => isOwn(name) && !used.has(name));
  return { flaky, facts: phase.used ? overLeftovers(state, phase.used) : [] };
}

/** A test that is known to be flaky does not show that leftovers caused the failure. */
export function overLeftovers(state: RunState, { failures, leftovers }: UsedRun): readonly Fact[] {
  const names = failures.filter((name) => !isFlaky(state, name));
  if (names.length === 0) return [];
  return [{ type: "leftovers.found", failures: names.slice(0, MAX_NAMES), leftovers }];
}

const MAX_NAMES = 20;

/**
 * Fails a task after too many rounds without a culprit: more gate runs would say the same. Its work stays on its
 * branch, and no agent is paid to make it again.
 */
export function neverDecided({ state, policy }: Now, { task: id, attempt }: Member): readonly Fact[] {
  const { spec, state: now } = taskOf(state, id);
  const branch = branchOf({
    prefix: policy.branchPrefix,
    run: state.request!.run,
    task: id,
    attempt,
    slug: spec.slug,
  });
  const { phase, detail, stale } = state.landing;
  const names = phase.is === "open" ? [] : phase.is === "again" ? phase.failures : phase.suspects;
  const failing = names.length === 0 ? "" : ` (${names.slice(0, 5).join(", ")})`;
  const why = gateRed(
    `could not be landed: its gate failed${failing} in ${policy.landing.maxUndecided} rounds, and each time neither ` +
      "this change nor the target was found to be at fault",
    { detail, stale },
  );
  const next = `make the gate's result depend on its files alone, or set gateWorkspace: fresh; the work is kept on ${branch}`;
  const [failed, ...skips] = failTask(state, id, { ...why, next });
  return [{ ...failed!, ...(now.is === "landing" && { handoff: now.handoff }) } as Fact, ...skips];
}
