/** Finds the tasks of a chain: a worker's task with all subtasks below it. */
import { type RunState, taskOf } from "../log/state.ts";
import { childId, parentId, type Task, type TaskId } from "../task.ts";

/** The worker's task that all of these subtasks are for. */
export function chainTop(state: RunState, task: Task): TaskId {
  let at = task;
  while (at.spec.spawn) at = taskOf(state, parentId(at.id)!);
  return at.id;
}

/** The task and all subtasks below it, also settled ones. */
export function chainOf(state: RunState, top: TaskId): readonly Task[] {
  const found = [taskOf(state, top)];
  for (let i = 0; i < found.length; i += 1) {
    const { id } = found[i]!;
    const children = state.planners.get(id)?.children ?? 0;
    for (let n = 1; n <= children; n += 1) {
      const child = taskOf(state, childId(id, n));
      if (child.spec.spawn) found.push(child);
    }
  }
  return found;
}
