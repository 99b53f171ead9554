/** Draws similar tasks of a wave as one box: tasks that are done, and tasks that only wait. */
import { type RunState, runningJobOf } from "../log/state.ts";
import { parentId, type TaskId } from "../task.ts";
import type { GraphNode } from "./graph.ts";

/** A smaller group is not worth a box that has to be opened. */
const MIN_GROUP = 4;

/** `members`: the tasks that the node stands for; `task` is the first of them. */
export type GroupedNode = GraphNode & { readonly group?: TaskGroup };
type TaskGroup = {
  readonly key: string;
  readonly is: "done" | "waiting";
  readonly members: readonly TaskId[];
};

/**
 * Tasks of one planner in one wave do not wait for each other, so they can share a box. Tasks at work, in the gate, or
 * failed are always drawn alone, because those are looked for. `isOpen`: whether a box shows its tasks one by one.
 */
export function groupAlike(
  state: RunState,
  nodes: readonly GraphNode[],
  isOpen: (key: string) => boolean = () => false,
): readonly GroupedNode[] {
  const alike = Map.groupBy(nodes, (node) => keyOf(state, node));
  const groups = new Map<string, TaskGroup>();
  const standsFor = new Map<TaskId, TaskId>();
  for (const [key, members] of alike) {
    if (key === undefined || members.length < MIN_GROUP || isOpen(key)) continue;
    const is = key.startsWith("done") ? "done" : "waiting";
    groups.set(key, { key, is, members: members.map(({ task }) => task) });
    for (const { task } of members) standsFor.set(task, members[0]!.task);
  }
  const shown = (task: TaskId) => standsFor.get(task) ?? task;
  return nodes.flatMap((node): GroupedNode[] => {
    const group = groups.get(keyOf(state, node) ?? "");
    if (!group) return [{ ...node, after: unique(node.after.map(shown)) }];
    if (shown(node.task) !== node.task) return [];
    const members = alike.get(group.key)!;
    return [{ ...node, group, after: unique(members.flatMap(({ after }) => after.map(shown))) }];
  });
}

const unique = (tasks: readonly TaskId[]): readonly TaskId[] => [...new Set(tasks)];

/**
 * The key of the task's box; undefined if it is drawn alone. A task whose children are shown is drawn alone, because
 * they are drawn after it.
 */
function keyOf(state: RunState, { task: id, wave, below, isFolded }: GraphNode): string | undefined {
  const task = state.tasks.get(id);
  if (!task || (below > 0 && !isFolded)) return undefined;
  const { is } = task.state;
  const isWaiting = is === "open" && runningJobOf(state, task) === undefined && task.tries.attempts === 0;
  if (is !== "done" && !isWaiting) return undefined;
  return `${is === "done" ? "done" : "waiting"} ${wave} ${parentId(id)}`;
}
