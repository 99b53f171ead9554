/** When can a task go on, and with which kind of job? Shared by the facts that say so. */
import type { Draft, TaskDraft } from "./draft.ts";
import { LANE } from "./state.ts";
import type { TaskId } from "./task.ts";

/** It can go on: ready for the kind of job that comes next for it. */
export function release(s: Draft, task: TaskDraft): void {
  s.dag.release(task.id, { lane: laneOf(task) });
}

function laneOf({ state, spec }: TaskDraft): number {
  if (state.is === "landing") return LANE.land;
  return state.is === "delegated" || spec.shape === "plan" ? LANE.plan : LANE.work;
}

export function taskIn(s: Draft, id: TaskId): TaskDraft {
  const task = s.tasks.get(id);
  if (!task) throw new Error(`there is no task ${id}`);
  return task;
}
