/** What follows from what a person asked for? */

import {
  leavingPhase,
  runningLandMembers,
  skipsAfter,
  stopAnswering,
  withoutRepeats,
} from "./consequences.ts";
import type { Fact, RunRequest } from "./event.ts";
import type { Policy } from "./policy.ts";
import { EVERYTHING } from "./scope.ts";
import { isRefSafe, slugOf } from "./slug.ts";
import { isProposed, type RunState, runningJobOf } from "./state.ts";
import { childId, isSettled, ROOT, type TaskId } from "./task.ts";

export function openRun(state: RunState, request: RunRequest): readonly Fact[] {
  if (state.request)
    return state.request.run === request.run
      ? []
      : [refused("open", `this log is of run ${state.request.run}`)];
  // The name becomes part of refs, and it is made here, not by a model: anything else is a defect.
  if (!isRefSafe(request.run) || request.run.includes("/")) {
    throw new Error(`the run's name ${JSON.stringify(request.run)} cannot be part of a branch name`);
  }
  const spec = {
    key: ROOT,
    description: request.goal,
    acceptance: "",
    scope: [EVERYTHING],
    after: [],
    priority: 5,
    delivers: "change",
    shape: "plan",
    slug: slugOf(request.goal),
  } as const;
  return [{ type: "run.opened", request, spec }];
}

export function steerRun(state: RunState, message: string, { brief }: Policy): readonly Fact[] {
  if (message.length > brief.maxSteerChars) {
    return [
      refused(
        "steer",
        `it is longer than ${brief.maxSteerChars} characters: put it into a file and name that`,
      ),
    ];
  }
  if (state.steers.length >= brief.maxSteers) {
    return [refused("steer", `${brief.maxSteers} messages wait to be heard already`)];
  }
  const root = state.tasks.get(ROOT)!;
  if (state.cancelling !== undefined) return [refused("steer", "the run is being cancelled")];
  if (isSettled(root) || root.spec.shape === "work") {
    const why = isSettled(root)
      ? "the goal is settled"
      : "no planner is at work: one worker has the whole goal";
    return [refused("steer", why)];
  }
  return [{ type: "run.steered", message }];
}

export const approvePlan = (state: RunState): readonly Fact[] =>
  isProposed(state) ? [{ type: "plan.approved" }] : [refused("approve", NOTHING_PROPOSED)];

/** The planner hears why, and plans again. */
export function declinePlan(state: RunState, reason: string, policy: Policy): readonly Fact[] {
  if (!isProposed(state)) return [refused("decline", NOTHING_PROPOSED)];
  if (state.proposed.includes(ROOT))
    return [refused("decline", "the goal was not split, so that there is no other plan: cancel the run")];
  const told = steerRun(state, `Your plan was declined: ${reason}`, policy);
  if (told.some(({ type }) => type === "command.refused")) return told;
  const open = state.proposed.filter((id) => !isSettled(state.tasks.get(id)!));
  return [
    { type: "plan.declined", reason },
    ...open.map((task): Fact => ({ type: "task.cancelled", task, reason: `declined: ${reason}` })),
    ...told,
  ];
}

const NOTHING_PROPOSED = "no plan waits for approval";

export function cancelRun(state: RunState, reason: string): readonly Fact[] {
  if (state.cancelling !== undefined) return [];
  return [{ type: "run.cancel-requested", reason }, ...cancelSubtree(state, ROOT, reason)];
}

export function cancelTask(state: RunState, id: TaskId, reason: string): readonly Fact[] {
  const task = state.tasks.get(id);
  if (!task) return [refused(`cancel ${id}`, "there is no such task")];
  if (id === ROOT) return cancelRun(state, reason);
  if (isSettled(task)) return [refused(`cancel ${id}`, `it is ${task.state.is} already`)];
  return cancelSubtree(state, id, reason);
}

/**
 * Children before parents, so that nobody hears of a child after its own end. What is in a candidate that is
 * being gated may land at this instant: its landing's end decides.
 */
function cancelSubtree(state: RunState, top: TaskId, reason: string): readonly Fact[] {
  const landing = runningLandMembers(state);
  const facts: Fact[] = [];
  for (const id of subtree(state, top).reverse()) {
    const task = state.tasks.get(id)!;
    if (isSettled(task)) continue;
    if (landing.has(id)) {
      facts.push({ type: "task.cancel-requested", task: id, reason });
      continue;
    }
    for (const question of state.questions.values())
      if (question.task === id) facts.push(...stopAnswering(state, question));
    const job = runningJobOf(state, task);
    if (job) facts.push({ type: "job.ended", job, how: "aborted" });
    facts.push({ type: "task.cancelled", task: id, reason });
    if (id === top) facts.push(...skipsAfter(state, id));
  }
  const gone = facts.flatMap((f) => (f.type === "task.cancelled" ? [{ task: f.task, attempt: 0 }] : []));
  return withoutRepeats([...facts, ...leavingPhase(state, gone)]);
}

/** The task and everything below it, parents first. */
function subtree(state: RunState, top: TaskId): TaskId[] {
  const found = [top];
  for (let i = 0; i < found.length; i += 1) {
    const children = state.planners.get(found[i]!)?.children ?? 0;
    for (let n = 1; n <= children; n += 1) found.push(childId(found[i]!, n));
  }
  return found;
}

export const refused = (command: string, reason: string): Fact => ({
  type: "command.refused",
  command,
  reason,
});
