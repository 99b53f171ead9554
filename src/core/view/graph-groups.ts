/** Draws many tasks of a wave that are alike as one box: those that are done, and those that only wait. */
import { type RunState, runningJobOf } from "../log/state.ts";
import { parentId, type TaskId } from "../task.ts";
import type { GraphNode } from "./graph.ts";

/** Fewer are not worth a box that has to be opened. */
const MIN_GROUP = 4;

/** `members`: it stands for all of these, and `task` is the first of them. */
export type GroupedNode = GraphNode & { readonly group?: TaskGroup };
type TaskGroup = {
  readonly key: string;
  readonly is: "done" | "waiting";
  readonly members: readonly TaskId[];
};

/**
 * Tasks of one planner in one wave do not wait for each other, so they can share a box. What is at work, in the gate,
 * or has failed is always drawn alone: that is what one looks for. `isOpen`: its tasks are shown one by one.
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

/** Undefined: it is drawn alone. A task whose parts are shown is, because they are drawn after it. */
function keyOf(state: RunState, { task: id, wave, below, isFolded }: GraphNode): string | undefined {
  const task = state.tasks.get(id);
  if (!task || (below > 0 && !isFolded)) return undefined;
  const { is } = task.state;
  const isWaiting = is === "open" && runningJobOf(state, task) === undefined && task.tries.attempts === 0;
  if (is !== "done" && !isWaiting) return undefined;
  return `${is === "done" ? "done" : "waiting"} ${wave} ${parentId(id)}`;
}
