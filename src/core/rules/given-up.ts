/** Finds what became of tasks that were not done: replaced by another task, or given up, and why. */

import { cut } from "../handoff.ts";
import type { GivenUpView } from "../log/event.ts";
import { type Concern, nameOf, type Planner, type RunState, taskOf } from "../log/state.ts";
import { childId, isSettled, ROOT, type Task, type TaskId } from "../task.ts";

/** The reason that is recorded for a planner that was asked for one and gave none. */
export const NO_REASON = "no reason given";

/** Something undone that no other task replaced, and that its planner no longer asks for. */
type GivenUp = {
  readonly concern: Concern;
  /** The planner's own reason, or what became of the task that was to replace it. */
  readonly reason: string;
  readonly isInItsWords: boolean;
};

/** What the planner of `id` gave up. Tasks whose replacement is still under way are not included. */
export function givenUpBy(state: RunState, id: TaskId): readonly GivenUp[] {
  const planner = state.planners.get(id);
  if (!planner) return [];
  const last = lastInLine(state, planner);
  return planner.dealt.flatMap(({ concern, by, because }): readonly GivenUp[] => {
    if (by === undefined) return [{ concern, reason: short(because ?? NO_REASON), isInItsWords: true }];
    const { spec, state: end } = taskOf(state, last(by));
    if (end.is === "done" || !isSettled(taskOf(state, last(by)))) return [];
    const how = end.is === "failed" ? "failed" : `was ${end.is}`;
    const said = because === undefined ? "" : `; the planner's reason: ${short(because)}`;
    const reason = `${spec.key}, which was to replace it, ${how}${said}`;
    return [{ concern, reason, isInItsWords: false }];
  });
}

/** Maps each replaced task to the task that took its place, if that task, or one that replaced it in turn, is done. */
export function replacementsBy(state: RunState, planner: Planner): ReadonlyMap<TaskId, Task> {
  const last = lastInLine(state, planner);
  return new Map(
    planner.dealt.flatMap(({ concern, by }) =>
      by !== undefined && taskOf(state, last(by)).state.is === "done"
        ? [[concern.from, taskOf(state, by)]]
        : [],
    ),
  );
}

/** Follows replacements from one task to the next, up to one that is done or that no other task replaces. */
function lastInLine(state: RunState, { dealt }: Planner): (id: TaskId) => TaskId {
  const next = new Map(dealt.flatMap(({ concern, by }) => (by === undefined ? [] : [[concern.from, by]])));
  return (id) => {
    let last = id;
    // This ends, because a replacement is always newer than what it replaces.
    while (taskOf(state, last).state.is !== "done" && next.has(last)) last = next.get(last)!;
    return last;
  };
}

/** "given up: a failed: exit code 9; the planner's reason: not needed". */
export const givenUpText = ({ concern, reason, isInItsWords }: GivenUp): string =>
  `given up: ${concern.text}; ${isInItsWords ? "the planner's reason: " : ""}${reason}`;

/** What the planner of `id` leaves undone, in words for the planner above it. */
export const undoneTexts = (state: RunState, id: TaskId): readonly string[] => [
  ...openUndone(state.planners.get(id)),
  ...givenUpBy(state, id).map(({ concern, reason }) => `${concern.text} (given up: ${reason})`),
];

export const openUndone = (planner: Planner | undefined): readonly string[] =>
  [...(planner?.concerns.values() ?? [])].flatMap(({ kind, text }) => (kind === "undone" ? [text] : []));

/** What was given up in the whole run, except below a task that was cancelled or replaced. */
export function givenUpOf(state: RunState, id: TaskId = ROOT): readonly GivenUpView[] {
  const planner = state.planners.get(id);
  if (!planner) return [];
  const replaced = replacementsBy(state, planner);
  const isWanted = (child: TaskId) =>
    state.planners.has(child) && !replaced.has(child) && taskOf(state, child).state.is !== "cancelled";
  const children = Array.from({ length: planner.children }, (_, i) => childId(id, i + 1));
  return [
    ...givenUpBy(state, id).map(({ concern, reason }) => viewOf(state, concern, reason)),
    ...children.filter(isWanted).flatMap((child) => givenUpOf(state, child)),
  ];
}

function viewOf(state: RunState, { from, text }: Concern, reason: string): GivenUpView {
  const { spec, state: end } = taskOf(state, from);
  const failure = end.is === "failed" ? end.failure.message : text;
  return { task: from, name: nameOf(state, from), key: spec.key, failure, reason };
}

/** Each planner that repeats a reason passes it up the tree, so it is cut; the log has the whole reason. */
const short = (reason: string) => cut(reason, MAX_REASON_CHARS);
const MAX_REASON_CHARS = 500;
