/** Computes the columns of the task list, and sorts by them. */
import type { RunState } from "../log/state.ts";
import type { Task, TaskId } from "../task.ts";
import { agentsMsOf } from "./graph.ts";
import { openSince } from "./job-spans.ts";
import { gatingIn, type TaskWord, wordOf } from "./rows.ts";
import type { Seen } from "./standing.ts";

export type TaskFigures = {
  /** How long agents worked on it, all attempts together. */
  readonly ms: number;
  readonly attempts: number;
  readonly tokens: number;
  readonly microdollars: number;
  readonly unpriced: number;
  /** Of the change that it handed off; undefined if it has handed off none. */
  readonly lines?: { readonly added: number; readonly removed: number };
};
export type TaskColumn = "task" | "state" | "time" | "attempts" | "cost" | "size";

/** `now`: in the run's own time, for tasks that are being worked on. */
export function taskFigures({ state, story }: Seen, now: number): ReadonlyMap<TaskId, TaskFigures> {
  const took = new Map(agentsMsOf(story));
  for (const [id, { job }] of state.running) {
    const since = openSince(story.spans, id);
    if ((job.kind === "work" || job.kind === "plan") && since !== undefined)
      took.set(job.task, (took.get(job.task) ?? 0) + Math.max(0, now - since));
  }
  return new Map(
    state.tasks.values().map((task) => [task.id, figuresOf(task, took.get(task.id) ?? 0)] as const),
  );
}

function figuresOf(task: Task, ms: number): TaskFigures {
  const { tokens, microdollars, unpriced } = task.used;
  const handoff = "handoff" in task.state ? task.state.handoff : undefined;
  const { linesAdded: added = 0, linesRemoved: removed = 0 } = handoff?.metrics ?? {};
  const isChange = handoff !== undefined && task.spec.delivers === "change";
  const { attempts } = task.tries;
  return { ms, attempts, tokens, microdollars, unpriced, ...(isChange && { lines: { added, removed } }) };
}

/** The states that need attention come first. */
const ORDER: readonly TaskWord[] = [
  "failed",
  "proposed",
  "asking",
  "working",
  "planning",
  "gating",
  "landing",
  "delegating",
  "split",
  "pausing",
  "parked",
  "ready",
  "waiting",
  "skipped",
  "cancelled",
  "done",
];

/** Equal tasks keep their order. Columns of numbers are sorted with the largest first, unless reversed. */
export function sortTasks<T extends { readonly id: TaskId }>(
  state: RunState,
  tasks: readonly T[],
  figures: ReadonlyMap<TaskId, TaskFigures>,
  { by, isReversed }: { readonly by: TaskColumn; readonly isReversed: boolean },
): readonly T[] {
  const gating = gatingIn(state);
  const sign = isReversed ? -1 : 1;
  if (by === "task") return isReversed ? tasks.toReversed() : tasks;
  const keyOf = ({ id }: T): number => {
    const own = figures.get(id);
    switch (by) {
      case "state":
        return ORDER.indexOf(wordOf(state, state.tasks.get(id)!, gating));
      case "time":
        return -(own?.ms ?? 0);
      case "attempts":
        return -(own?.attempts ?? 0);
      case "cost":
        return -(own?.microdollars || (own?.tokens ?? 0) / 1_000_000);
      case "size":
        return own?.lines ? -(own.lines.added + own.lines.removed) : 1;
    }
  };
  const keyed = tasks.map((task) => ({ task, key: keyOf(task) }));
  return keyed.sort((a, b) => sign * (a.key - b.key)).map(({ task }) => task);
}
