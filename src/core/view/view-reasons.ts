/** Lists why tasks are not done, and the concerns: each reason once, with names that people know. */
import { type Failure, forPeople } from "../failure.ts";
import type { Handoff } from "../handoff.ts";
import { nameOf, type RunState, taskOf, wallTime } from "../log/state.ts";
import { replacementsBy } from "../rules/given-up.ts";
import { childId, isSettled, parentId, ROOT, type Task, type TaskId } from "../task.ts";
import type { Story } from "./story.ts";

export type Named = { readonly task: TaskId; readonly name: string };

export type UndoneView = Named & {
  readonly end: "failed" | "skipped" | "cancelled";
  readonly reason: string;
  /** Its children failed: the reason is "because a, b failed", and why they failed is said for each of them. */
  readonly isOfParts?: true;
  readonly next?: string;
  /** The name of the task that took its place, if that task is done. */
  readonly replacedBy?: string;
  /** What its worker or subplanner had reported, if anything. */
  readonly reported?: Pick<Handoff, "status" | "summary" | "concerns" | "suggestions" | "metrics">;
};

/** `isOpen`: no planner has said that the concern is dealt with. */
export type ConcernView = Named & { readonly text: string; readonly isOpen: boolean };

export const named = (state: RunState, task: TaskId): Named => ({ task, name: nameOf(state, task) });

export function undoneOf(state: RunState, tasks: Iterable<Task>): readonly UndoneView[] {
  const replaced = new Map([...state.planners.values()].flatMap((one) => [...replacementsBy(state, one)]));
  return [...tasks].flatMap((task) => {
    const view = endOf(state, task);
    const by = replaced.get(task.id);
    return view === undefined
      ? []
      : [by === undefined ? view : { ...view, replacedBy: nameOf(state, by.id) }];
  });
}

function endOf(state: RunState, { id, state: end }: Task): UndoneView | undefined {
  switch (end.is) {
    case "failed": {
      const { next } = forPeople(end.failure);
      return {
        ...named(state, id),
        end: end.is,
        ...whyFailed(state, id, end.failure),
        ...(next !== undefined && { next }),
        ...(end.handoff && { reported: reportOf(end.handoff) }),
      };
    }
    case "skipped":
      return { ...named(state, id), end: end.is, reason: `${nameOf(state, end.because)} did not land` };
    case "cancelled":
      return { ...named(state, id), end: end.is, reason: end.reason };
    default:
      return undefined;
  }
}

/** Tasks whose agent could not be reached at their last try. */
export const unreachedTasks = ({ tasks }: RunState): readonly Task[] =>
  [...tasks.values()].filter((task) => task.tries.unreachable > 0 && !isSettled(task));

/** `since`: the first try in the present row without an answer. */
export type UnreachableView = { readonly tasks: number; readonly since: number; readonly reason: string };

export function unreachableOf(state: RunState, { failedAttempts }: Story): UnreachableView | undefined {
  const tasks = unreachedTasks(state);
  const tries = tasks.flatMap(({ id, tries: { unreachable } }) =>
    failedAttempts
      .filter(({ task, failure }) => task === id && failure.kind === "agent-unreachable")
      .slice(-unreachable),
  );
  const [first] = tries.map(({ at }) => at).sort((a, b) => a - b);
  const last = tries.at(-1)?.failure.message;
  if (first === undefined || last === undefined) return undefined;
  return { tasks: tasks.length, since: wallTime(state, first), reason: last };
}

const reportOf = ({ status, summary, concerns, suggestions, metrics }: Handoff) => ({
  status,
  summary,
  concerns,
  suggestions,
  metrics,
});

/** "lexer failed: exit code 9", "parser failed, because parser/lexer failed". */
export function undoneText({ name, end, reason, isOfParts, replacedBy }: UndoneView): string {
  const what = `${name} ${end === "failed" ? "failed" : `was ${end}`}`;
  const instead = replacedBy === undefined ? "" : ` (replaced by ${replacedBy})`;
  return `${what}${isOfParts ? "," : ":"} ${reason}${instead}`;
}

/** Events repeat failures from below for planners; people are told each of them once, at the task that failed. */
export function whyFailed(
  state: RunState,
  id: TaskId,
  why: Failure,
): Pick<UndoneView, "reason" | "isOfParts"> {
  if (why.kind !== "children-failed") return { reason: why.message };
  const parts = partsOf(state, id).filter((part) => isUndone(taskOf(state, part)));
  const failed = parts.filter((part) => taskOf(state, part).state.is === "failed");
  const [those, end] = failed.length > 0 ? [failed, "failed"] : [parts, "did not land"];
  if (those.length === 0) return { reason: "none of it was done" };
  const names = those.slice(0, MAX_NAMES).map((part) => nameOf(state, part));
  const more = those.length - names.length;
  const reason = `because ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""} ${end}`;
  return { reason, isOfParts: true };
}

const MAX_NAMES = 5;

const partsOf = ({ planners }: RunState, id: TaskId): readonly TaskId[] =>
  Array.from({ length: planners.get(id)?.children ?? 0 }, (_, i) => childId(id, i + 1));

const isUndone = ({ state: { is } }: Task) => is === "failed" || is === "skipped" || is === "cancelled";

/** What the end of the run left, without what is already said about the tasks that are not done. */
export function leftOf(state: RunState): readonly string[] {
  const root = state.tasks.get(ROOT)?.state;
  const concerns = [...(state.planners.get(ROOT)?.concerns.values() ?? [])];
  const told = new Set([
    ...(root?.is === "failed" ? [root.failure.message, `${root.failure.message}: ${root.failure.next}`] : []),
    ...concerns.filter(({ from }) => isUndoneWithin(state, from)).map(({ text }) => text),
  ]);
  return (state.closed?.left ?? []).filter((text) => !told.has(text));
}

const isUndoneWithin = (state: RunState, top: TaskId): boolean =>
  state.tasks.values().some((task) => (task.id === top || task.id.startsWith(`${top}.`)) && isUndone(task));

/** Concerns of workers and planners, the open ones first; failures are shown elsewhere. */
export function concernsOf(state: RunState, story: Story): readonly ConcernView[] {
  const open = new Map<string, ConcernView>();
  const add = (to: Map<string, ConcernView>, from: TaskId, said: string, isOpen: boolean) => {
    const { task, text } = originOf(state, from, said);
    to.set(`${task} ${text}`, { ...named(state, task), text, isOpen });
  };
  for (const [id, planner] of state.planners) {
    if (id !== ROOT && isHandedUp(taskOf(state, id))) continue; // It was handed up to another planner.
    for (const { kind, from, text } of planner.concerns.values())
      if (kind === "said" && !isFailureOf(state, from, text)) add(open, from, text, true);
  }
  const others = new Map<string, ConcernView>();
  for (const [task, texts] of story.concerns) {
    // If one worker took the whole goal, no planner hears of its concerns: they are the person's.
    const isDealtWith = task !== ROOT && isHandedUp(taskOf(state, task));
    for (const text of texts) add(isDealtWith ? others : open, task, text, !isDealtWith);
  }
  return [...open.values(), ...[...others].flatMap(([key, view]) => (open.has(key) ? [] : [view]))];
}

/** Its planner has heard what it reported. */
const isHandedUp = ({ state }: Task): boolean =>
  state.is === "done" || (state.is === "failed" && state.handoff !== undefined);

/**
 * "[parser] [lexer] odd" was handed up by one planner after the other, and comes from the last one named. A worker's
 * own words are never taken apart, because a worker has no planned tasks. Older logs have ids instead, "[t.1.2]".
 */
function originOf(state: RunState, from: TaskId, said: string): { task: TaskId; text: string } {
  let origin = { task: from, text: said };
  for (;;) {
    const [, name = "", text = ""] = /^\[([\w.-]+)\] (.*)$/s.exec(origin.text) ?? [];
    const part = state.planners.get(origin.task)?.keys.get(name) ?? (name as TaskId);
    if (!state.tasks.has(part) || parentId(part) !== origin.task) return origin;
    origin = { task: part, text };
  }
}

function isFailureOf(state: RunState, from: TaskId, text: string): boolean {
  const { spec, state: end } = taskOf(state, from);
  return end.is === "failed" && text === `${spec.key} failed: ${end.failure.message}`;
}
