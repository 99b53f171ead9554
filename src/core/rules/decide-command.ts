/** Decides what follows from a person's command. */

import { isRefSafe, slugOf } from "../../text/slug.ts";
import { failure } from "../failure.ts";
import type { Fact, RunRequest } from "../log/event.ts";
import { isProposed, type RunState, runningJobOf, taskOf } from "../log/state.ts";
import { EVERYTHING } from "../scope.ts";
import { childId, isSettled, ROOT, type TaskId } from "../task.ts";
import {
  attemptFailed,
  landingNow,
  leavingPhase,
  type Now,
  skipsAfter,
  stopAnswering,
  withoutRepeats,
} from "./consequences.ts";

export const refused = (command: string, reason: string): Fact => ({
  type: "command.refused",
  command,
  reason,
});

export function openRun(state: RunState, request: RunRequest): readonly Fact[] {
  if (state.request)
    return state.request.run === request.run
      ? []
      : [refused("open", `this log is of run ${state.request.run}`)];
  // The run's name becomes part of refs. Skein makes it, not a model, so a bad name is a defect.
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
    delivers: request.delivers ?? "change",
    shape: "plan",
    slug: slugOf(request.goal),
  } as const;
  return [{ type: "run.opened", request, spec }];
}

export function steerRun({ state, policy: { brief } }: Now, message: string): readonly Fact[] {
  const root = taskOf(state, ROOT);
  const why =
    message.length > brief.maxSteerChars
      ? `it is longer than ${brief.maxSteerChars} characters: put it into a file and name that`
      : state.steers.length >= brief.maxSteers
        ? `${brief.maxSteers} messages are waiting already`
        : state.cancelling !== undefined
          ? "the run is being cancelled"
          : isSettled(root)
            ? "the goal is settled"
            : root.spec.shape === "work"
              ? "there is no planner: one worker has the whole goal"
              : undefined;
  return [why === undefined ? { type: "run.steered", message } : refused("steer", why)];
}

/** With a task: approves its landing. Without: the proposed plan, else all landings that wait. */
export function approve(state: RunState, task?: TaskId): readonly Fact[] {
  const landings = landingsMeant(state, task);
  if (landings) return landings.map((id) => ({ type: "landing.approved", task: id }));
  if (task !== undefined) return [notWaiting("approve", task)];
  return isProposed(state) ? [{ type: "plan.approved" }] : [refused("approve", NOTHING_PROPOSED)];
}

/** A declined landing is attempted again with the reason, as after any other refusal. */
export function decline(
  now: Now,
  { task, reason }: { readonly task?: TaskId; readonly reason: string },
): readonly Fact[] {
  const landings = landingsMeant(now.state, task);
  if (landings) return landings.flatMap((id) => declineLanding(now, id, reason));
  return task === undefined ? declinePlan(now, reason) : [notWaiting("decline", task)];
}

/** The task's landing; without a task, all landings that wait, unless a plan waits. */
function landingsMeant(state: RunState, task: TaskId | undefined): readonly TaskId[] | undefined {
  if (task !== undefined) return state.unapproved.has(task) ? [task] : undefined;
  return isProposed(state) || state.unapproved.size === 0 ? undefined : [...state.unapproved.keys()];
}

const NOTHING_PROPOSED = "no plan waits for approval";
const notWaiting = (command: string, task: TaskId): Fact =>
  refused(`${command} ${task}`, "it does not wait for approval");

function declineLanding(now: Now, id: TaskId, reason: string): readonly Fact[] {
  const { state: landing } = taskOf(now.state, id);
  if (landing.is !== "landing") throw new Error(`${id} waits for approval, but is ${landing.is}`);
  const { attempt, handoff } = landing;
  const flags = now.state.unapproved.get(id)!.join(", ");
  const why = failure(
    "rule-broken",
    `a person declined what it changes of the gate, of CI, of hooks or of what steers agents (${flags}): ${reason}`,
    "make the change again without that",
  );
  const again = attemptFailed(now, { task: id, attempt }, { failure: why, charge: "refused", handoff });
  return [{ type: "landing.declined", task: id, reason }, ...again];
}

/** The planner is told the reason, and plans again. */
function declinePlan(now: Now, reason: string): readonly Fact[] {
  const { state } = now;
  if (!isProposed(state)) return [refused("decline", NOTHING_PROPOSED)];
  if (state.proposed.includes(ROOT))
    return [refused("decline", "the goal was not split, so there is no other plan: cancel the run")];
  const told = steerRun(now, `Your plan was declined: ${reason}`);
  if (told.some(({ type }) => type === "command.refused")) return told;
  const open = state.proposed.filter((id) => !isSettled(taskOf(state, id)));
  return [
    { type: "plan.declined", reason },
    ...open.map((task): Fact => ({ type: "task.cancelled", task, reason: `declined: ${reason}` })),
    ...told,
  ];
}

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
 * Children before parents, so that no parent hears of a child after its own end. A task in a candidate that is being
 * gated may land at this instant, so the end of that landing decides.
 */
function cancelSubtree(state: RunState, top: TaskId, reason: string): readonly Fact[] {
  const landing = landingNow(state);
  const facts: Fact[] = [];
  for (const id of subtree(state, top).reverse()) {
    const task = taskOf(state, id);
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
