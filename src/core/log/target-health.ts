/** Decides from the results of several checks whether the target is red, or whether a failure was chance. */
import { failuresOf, type GateReport, isGreen } from "../gate.ts";
import { maxRuns } from "../rules/landing.ts";
import { ROOT } from "../task.ts";
import type { EventOf } from "./event.ts";
import { type RunState, taskOf } from "./state.ts";

/**
 * The target's health after a check. One red check only makes it suspect. It is red once a failure that is not known to
 * be flaky happens again, or once it was red so often that chance does not explain it.
 */
export function healthAfter(
  state: RunState,
  { tip, report, leftovers }: Pick<EventOf<"target.checked">, "tip" | "report" | "leftovers">,
): RunState["target"]["health"] {
  if (isGreen(report)) return "green";
  if (leftovers) return "suspect";
  const { health } = state.target;
  const failures = failuresOf(report);
  const before = redBefore(state, tip);
  const lasting = health === "red" ? failures : failures.filter((name) => before.has(name));
  if (lasting.some((name) => !isFlaky(state, name))) return "red";
  const limit = maxRuns([...before, ...failures], (name) => isFlaky(state, name));
  return redsAfter(state, tip) >= limit ? "red" : "suspect";
}

/**
 * A test that failed and passed on the same tree. A whole command whose output names no test never counts as flaky: all
 * its failures have the same name, and a real failure must not be taken for chance.
 */
export const isFlaky = ({ flaky, target }: RunState, name: string): boolean =>
  flaky.has(name) && !target.report.commands.some((command) => command.name === name);

/** A check of the target has found no gate commands to run. */
export const isUngated = ({ target: { health, report } }: RunState): boolean =>
  health === "green" && report.commands.length === 0;

export const redsAfter = ({ target }: RunState, tip: string): number =>
  target.checkedTip === tip ? target.redsInARow + 1 : 1;

/** What failed the last time that this same commit was checked. */
export const redBefore = ({ target }: RunState, tip: string): ReadonlySet<string> =>
  new Set(target.checkedTip === tip ? failuresOf(target.report) : []);

/**
 * What failed when this same commit was checked before, and passes now. A failure in a used workspace may be due to
 * leftovers, and says nothing about the test.
 */
export function goneIn({ target }: RunState, tip: string, now: GateReport): readonly string[] {
  if (target.checkedTip !== tip) return [];
  const failing = new Set(failuresOf(now));
  return failuresOf(target.report).filter((name) => !failing.has(name));
}

/** No planner and no worker has started, so nothing is spent. */
export function isUnpaid(state: RunState): boolean {
  const { tries } = taskOf(state, ROOT);
  return tries.turns === 0 && tries.attempts === 0;
}
