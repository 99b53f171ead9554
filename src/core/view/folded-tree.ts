/** Builds the tree of tasks with folded subplans and subtasks, and counts what the hidden tasks came to. */
import type { RunState } from "../log/state.ts";
import { ROOT, type TaskId } from "../task.ts";
import { AT_WORK } from "./labels.ts";
import { gatingIn, rowOf, type TaskRow, treeOf } from "./view.ts";

/** `below`: the tasks under this one, at any depth. Not counted for the goal, because the run's own counts say it. */
export type TreeNode = {
  readonly task: TaskId;
  readonly depth: number;
  readonly isFolded: boolean;
  readonly below: Readonly<Below>;
};
type Below = { tasks: number; done: number; failed: number; atWork: number };

/** The goal is always unfolded: its children are the run. */
export function foldedTree(
  state: RunState,
  isUnfolded: (task: TaskId) => boolean = () => false,
): readonly TreeNode[] {
  const gating = gatingIn(state);
  const shown: TreeNode[] = [];
  const above: { readonly depth: number; readonly below: Below; readonly hides: boolean }[] = [];
  for (const { id, depth } of treeOf(state)) {
    while (above.length > 0 && above.at(-1)!.depth >= depth) above.pop();
    const isHidden = above.some(({ hides }) => hides);
    const [, ...parents] = above;
    if (parents.length > 0) {
      const row = rowOf(state, id, { depth, gating });
      for (const { below } of parents) countIn(below, row);
    }
    const below: Below = { tasks: 0, done: 0, failed: 0, atWork: 0 };
    const hides = id !== ROOT && !isUnfolded(id);
    above.push({ depth, below, hides });
    if (!isHidden) shown.push({ task: id, depth, below, isFolded: hides });
  }
  return shown.map((node) => ({ ...node, isFolded: node.isFolded && node.below.tasks > 0 }));
}

const FAILED: ReadonlySet<string> = new Set(["failed", "skipped", "cancelled"]);

function countIn(below: Below, { word, isUntaken }: TaskRow): void {
  below.tasks += 1;
  if (word === "done") below.done += 1;
  else if (FAILED.has(word)) below.failed += 1;
  else if (AT_WORK.has(word) && !isUntaken) below.atWork += 1;
}
