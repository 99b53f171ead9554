/** Lists the tasks as a tree, with the names that people use and what each task is doing now. */
import { type Running, type RunState, retryKey, runningJobOf, taskOf } from "../log/state.ts";
import { isUngated } from "../log/target-health.ts";
import { isSettled, parentId, ROOT, type Task, type TaskId } from "../task.ts";
import { type Named, named } from "./view-reasons.ts";

/** The present state of a task, in one word. */
export type TaskWord =
  | ("done" | "failed" | "skipped" | "cancelled")
  | ("planning" | "working" | "proposed" | "landing" | "gating")
  | ("split" | "delegating" | "asking" | "waiting" | "ready" | "parked" | "pausing");

/** Finds a task by its id, by its whole name, or by its own name if only one task has it. */
export function findTask(state: RunState, said: string): TaskId | { readonly several: readonly Named[] } {
  if (state.tasks.has(said as TaskId)) return said as TaskId;
  const all = [...state.tasks.keys()].filter((id) => id !== ROOT).map((id) => named(state, id));
  const whole = all.filter(({ name }) => name === said);
  const found = whole.length > 0 ? whole : all.filter(({ name }) => name.endsWith(`/${said}`));
  return found.length === 1 ? found[0]!.task : { several: found };
}

/** In a fleet: the machine that has the job, or that no machine has taken it yet. */
export type JobPlace = {
  readonly machine?: string;
  readonly isUntaken?: true;
  /** If no machine has taken it: the labels that its machine must have. */
  readonly needs?: readonly string[];
};

/** A task in the tree. */
export type TaskRow = Named &
  JobPlace & {
    readonly key: string;
    readonly depth: number;
    readonly word: TaskWord;
    readonly attempts: number;
    readonly isSettled: boolean;
    readonly description: string;
  };

export function rowsOf(state: RunState): readonly TaskRow[] {
  const gating = gatingIn(state);
  return treeOf(state).map(({ id, depth }) => rowOf(state, id, { depth, gating }));
}

/** The tasks whose gate is running. */
export const gatingIn = (state: RunState): ReadonlySet<TaskId> =>
  new Set(
    [...state.running.values()].flatMap(({ job }) =>
      job.kind === "land" ? job.members.map(({ task }) => task) : [],
    ),
  );

export function rowOf(
  state: RunState,
  id: TaskId,
  { depth, gating }: { readonly depth: number; readonly gating: ReadonlySet<TaskId> },
): TaskRow {
  const task = taskOf(state, id);
  const word = wordOf(state, task, gating);
  return {
    ...named(state, id),
    key: id === ROOT ? "the goal" : task.spec.key,
    depth,
    word,
    ...placeOf(state, runningOf(state, task, word)),
    attempts: task.tries.attempts,
    isSettled: isSettled(task),
    description: task.spec.description,
  };
}

/** Every task after its parent, siblings in the order in which they were made. */
export function treeOf(state: RunState): readonly { readonly id: TaskId; readonly depth: number }[] {
  const children = Map.groupBy(
    [...state.tasks.keys()].filter((id) => id !== ROOT),
    (id) => parentId(id)!,
  );
  const tree: { readonly id: TaskId; readonly depth: number }[] = [];
  // A stack instead of recursion: trees are as deep as planners make them.
  const stack = state.tasks.has(ROOT) ? [{ id: ROOT, depth: 0 }] : [];
  for (let next = stack.pop(); next; next = stack.pop()) {
    tree.push(next);
    for (const child of (children.get(next.id) ?? []).toReversed())
      stack.push({ id: child, depth: next.depth + 1 });
  }
  return tree;
}

/** `gating`: the tasks of the candidate whose gate is running. */
export function wordOf(state: RunState, task: Task, gating: ReadonlySet<TaskId>): TaskWord {
  const { is } = task.state;
  if (state.unapproved.has(task.id)) return "proposed";
  if (is === "landing") return gating.has(task.id) && !isUngated(state) ? "gating" : "landing";
  if (is !== "open" && is !== "delegated" && is !== "waiting") return is;
  const job = runningJobOf(state, task);
  if (job !== undefined) return job.startsWith("plan:") ? "planning" : "working";
  if (task.state.is === "waiting") return "question" in task.state.for ? "asking" : "delegating";
  if (is === "delegated") return "split";
  if (state.heldBack.has(task.id)) return "parked";
  if (state.deadlines.get(retryKey(task.id)) !== undefined) return "pausing";
  return state.dag.status(task.id) === "waiting" ? "waiting" : "ready";
}

/** Of a landing or a check: the machine that runs its gate; one without a gate has no place. */
export function placeOf(state: RunState, running: Running | undefined): JobPlace {
  if (running?.taken) return { machine: running.taken.machine };
  if (!running?.isOffered) return {};
  const { job } = running;
  const { needs } = job.kind === "plan" || job.kind === "work" ? taskOf(state, job.task).spec : {};
  return { isUntaken: true, ...(needs && { needs }) };
}

/** The job that the task's word is about. */
function runningOf(state: RunState, task: Task, word: TaskWord): Running | undefined {
  if (word === "planning" || word === "working") return state.running.get(runningJobOf(state, task)!);
  if (word !== "gating") return undefined;
  return state.running
    .values()
    .find(({ job }) => job.kind === "land" && job.members.some((member) => member.task === task.id));
}
