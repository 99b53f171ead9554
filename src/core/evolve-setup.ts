/** What changes when the gate or a workspace cannot be made ready, is looked at again, or the gate was probed? */
import type { Draft } from "./draft.ts";
import type { Event, EventOf } from "./event.ts";
import { isOfGate } from "./gate-changes.ts";
import type { Member } from "./job.ts";
import { taskIn } from "./release.ts";
import type { TaskState } from "./task.ts";

export function setupFailed(s: Draft, { failure }: EventOf<"setup.failed">): void {
  s.setup.failure = failure;
  s.setup.hasFailed = true;
}

/** A person has seen to it: all that could not be known for it is asked again. */
export function setupRetried(s: Draft, { at }: EventOf<"setup.retried">): void {
  const { setup, target } = s;
  Object.assign(setup, { failure: undefined, errors: 0, since: at, probeErrors: 0 });
  if (setup.probed?.is === "unproven") setup.probed = undefined;
  target.health = "unknown";
  target.checkErrors = 0;
}

export function gateProbed(s: Draft, { probed, at }: EventOf<"gate.probed">): void {
  const isProbedEarly = probed.is === "not-probed" && s.target.health !== "green";
  Object.assign(s.setup, { probed, isProbedEarly, probeErrors: 0, probeEndedAt: at });
}

/** What was proved before was another gate. */
export function noteGateChange(s: Draft, members: readonly Member[]): void {
  if (s.setup.probed?.is !== "proved") return;
  const changer = members.map(({ task }) => taskIn(s, task)).find(({ state }) => changesGate(state));
  if (!changer) return;
  s.setup.probed = { is: "not-probed", why: `${changer.spec.key} changed what it runs` };
}

const changesGate = (state: TaskState): boolean =>
  (state.is === "landing" || state.is === "done") && (state.handoff.flags ?? []).some(isOfGate);

export function gateUnprobed(s: Draft, { at }: EventOf<"gate.unprobed">): void {
  s.setup.probeErrors += 1;
  s.setup.probeEndedAt = at;
}

/** Failures are counted in a row; a place that was ready ends the row. */
export function noteSetup({ setup, target }: Draft, event: Event): void {
  switch (event.type) {
    case "plan.rejected":
    case "task.retried":
    case "target.unchecked":
      if (event.failure.kind === "setup") setup.errors += 1;
      break;
    case "target.checked":
      if (event.report.commands.length > 0) Object.assign(setup, { hasWorked: true, errors: 0 });
      break;
    case "task.handed-off":
      Object.assign(setup, { hasWorked: true, errors: 0 });
      break;
    case "job.ended": // A look that was cut off by a restart is made anew, and waited for as long again.
      if (event.how === "interrupted" && target.checkedTip === undefined) setup.since = event.at;
      break;
    default: // It says nothing about the set-up.
  }
}
