/** Is the target red, or was that chance? What a look at it says, with what failed before. */
import { failuresOf, type GateReport, isGreen } from "../gate.ts";
import { maxRuns } from "../rules/landing.ts";
import { ROOT } from "../task.ts";
import type { EventOf } from "./event.ts";
import { type RunState, taskOf } from "./state.ts";

/**
 * What a check makes of the target's health. Red once is only suspect, until something fails again that is not known
 * to come and go; or until it was red so often that chance does not explain it.
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
 * A test that was seen to come and go. A command whose output names no test is none: everything that it ever fails
 * has its name, and a real failure must not be taken for chance.
 */
export const isFlaky = ({ flaky, target }: RunState, name: string): boolean =>
  flaky.has(name) && !target.report.commands.some((command) => command.name === name);

/** A look at the target has found no commands to run. */
export const isUngated = ({ target: { health, report } }: RunState): boolean =>
  health === "green" && report.commands.length === 0;

export const redsAfter = ({ target }: RunState, tip: string): number =>
  target.checkedTip === tip ? target.redsInARow + 1 : 1;

/** What failed the last time that this very commit was looked at. */
export const redBefore = ({ target }: RunState, tip: string): ReadonlySet<string> =>
  new Set(target.checkedTip === tip ? failuresOf(target.report) : []);

/**
 * What failed when this very commit was looked at before, and does not now. In a used workspace it may have failed over
 * what was left there: that says nothing about a test.
 */
export function goneIn({ target }: RunState, tip: string, now: GateReport): readonly string[] {
  if (target.checkedTip !== tip) return [];
  const failing = new Set(failuresOf(now));
  return failuresOf(target.report).filter((name) => !failing.has(name));
}

/** No planner and no worker was started: nothing is spent. */
export function isUnpaid(state: RunState): boolean {
  const { tries } = taskOf(state, ROOT);
  return tries.turns === 0 && tries.attempts === 0;
}
