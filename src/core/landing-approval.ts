/** Which finished tasks wait for a person before they land, and what follows from the answer? */
import { attemptFailed } from "./consequences.ts";
import { approvePlan, declinePlan, refused } from "./decide-command.ts";
import type { Fact } from "./event.ts";
import { failure } from "./failure.ts";
import type { Handoff } from "./handoff.ts";
import type { Rules } from "./policy.ts";
import { isProposed, type RunState, taskOf } from "./state.ts";
import type { TaskId } from "./task.ts";

/** Only what was found to change what the gate runs, or what steers agents. */
export const landingProposal = (task: TaskId, { flags = [] }: Handoff, { policy }: Rules): readonly Fact[] =>
  policy.gateChanges === "ask" && flags.length > 0 ? [{ type: "landing.proposed", task, flags }] : [];

export function approve(state: RunState, task?: TaskId): readonly Fact[] {
  const asked = meant(state, task);
  if (asked === undefined) return task === undefined ? approvePlan(state) : [notAsked("approve", task)];
  return asked.map((id) => ({ type: "landing.approved", task: id }));
}

/** Each is attempted again with the reason, as after any other refusal. */
export function decline(
  state: RunState,
  { task, reason }: { readonly task?: TaskId; readonly reason: string },
  rules: Rules,
): readonly Fact[] {
  const asked = meant(state, task);
  if (asked === undefined)
    return task === undefined ? declinePlan(state, reason, rules.policy) : [notAsked("decline", task)];
  return asked.flatMap((id) => declineOne(state, id, reason, rules));
}

function declineOne(state: RunState, id: TaskId, reason: string, rules: Rules): readonly Fact[] {
  const task = taskOf(state, id);
  if (task.state.is !== "landing") throw new Error(`${id} waits for approval, but is ${task.state.is}`);
  const { attempt, handoff } = task.state;
  const why = failure(
    "rule-broken",
    `a person declined what it changes of the gate or of what steers agents (${state.asked.get(id)!.join(", ")}): ${reason}`,
    "make the change again without that",
  );
  const again = attemptFailed(state, task, attempt, { failure: why, charge: "refused", handoff }, rules);
  return [{ type: "landing.declined", task: id, reason }, ...again];
}

/** Without a name: those that wait, unless a plan does. */
function meant(state: RunState, task: TaskId | undefined): readonly TaskId[] | undefined {
  if (task !== undefined) return state.asked.has(task) ? [task] : undefined;
  return isProposed(state) || state.asked.size === 0 ? undefined : [...state.asked.keys()];
}

const notAsked = (command: string, task: TaskId): Fact =>
  refused(`${command} ${task}`, "it does not wait for approval");
